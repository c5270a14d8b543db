// Lists the verbs of the command line that call tools in the session of the workspace.

/** A call of a tool. */
export interface VerbCall {
  tool: string;
  args: { readonly [name: string]: unknown };
}

export interface Verb {
  /** The operands of the verb, for help texts. */
  usage: string;
  help: string;
  /** The tool that the verb calls; options of the command line are parameters of this tool. */
  tool: string;
  /** The parameters that operands give. */
  operands: readonly string[];
  /** Options that take no value, with the arguments that each stands for. */
  options?: { readonly [name: string]: VerbCall['args'] };
  /** When the verb reads a text from stdin: if there are no operands, or always. */
  reads?: 'without operands' | 'always';
  /** Returns the calls for OPERANDS, and INPUT, the text of stdin if that was read. Undefined when there are too
   *  many operands, or too few. Without this function, each operand gives one parameter. */
  calls?: (operands: readonly string[], input: string | undefined) => VerbCall[] | undefined;
}

/** Returns the calls that VERB makes for OPERANDS and INPUT; undefined when the operands are wrong. */
export function callsOf(verb: Verb, operands: readonly string[], input: string | undefined) {
  if (verb.calls !== undefined) return verb.calls(operands, input);
  if (operands.length > verb.operands.length) return undefined;
  const args = Object.fromEntries(operands.map((operand, index) => [verb.operands[index], operand]));
  return [{ tool: verb.tool, args }];
}

/** Returns the parts of a verb for a TOOL whose argument NAME is a text of forms: the operands, and standard input if
 *  that was read. */
function forms(tool: string, name: string) {
  const calls: Verb['calls'] = (operands, input) => {
    const text = [...operands, ...(input === undefined ? [] : [input])].join('\n');
    return text.trim() === '' ? undefined : [{ tool, args: { [name]: text } }];
  };
  return { tool, operands: [name], reads: 'without operands', calls } as const;
}

/** Returns the parts of a verb for a TOOL that takes one name as the argument NAME, or several as `names`. With
 *  LEAST 0, an option can stand for the names. */
function names(tool: string, name: string, least: 0 | 1 = 1) {
  const calls: Verb['calls'] = (names) => {
    const [first, ...more] = names;
    if (first === undefined) return least === 0 ? [{ tool, args: {} }] : undefined;
    return [{ tool, args: more.length === 0 ? { [name]: first } : { names } }];
  };
  return { tool, operands: [name, 'names'], calls } as const;
}

/** Options of the verbs that run code. */
const RUNNING = { hold: { on_error: 'hold' }, fresh: { fresh: 'true' } } as const;

/** The verbs by their names. */
export const VERBS: { readonly [name: string]: Verb } = {
  eval: {
    ...forms('eval_form', 'form'),
    usage: "'(FORM)' ...",
    help: 'evaluate forms; without operands those on standard input',
    options: RUNNING,
  },
  load: {
    usage: 'FILE|SYSTEM ...',
    help: 'load Lisp files and ASDF systems, in this order',
    tool: 'load_file',
    operands: ['path', 'system'],
    options: RUNNING,
    calls: (operands) =>
      operands.length === 0
        ? undefined
        : operands.map((operand) =>
            isFile(operand)
              ? { tool: 'load_file', args: { path: operand } }
              : { tool: 'load_system', args: { system: operand } },
          ),
  },
  test: {
    usage: '[SYSTEM|PACKAGE::TEST]',
    help: 'run tests: all of the workspace, of a system, or one',
    tool: 'run_tests',
    operands: ['system', 'test'],
    options: RUNNING,
    calls: ([name, ...more]) => {
      if (more.length > 0) return undefined;
      const args = name === undefined ? {} : name.includes(':') ? { test: name } : { system: name };
      return [{ tool: 'run_tests', args }];
    },
  },
  callers: {
    ...names('who_calls', 'name', 0),
    usage: 'NAME ...',
    help: 'find the functions that call these',
  },
  describe: {
    ...names('describe_symbol', 'symbol'),
    usage: 'NAME ...',
    help: 'describe what symbols name',
  },
  apropos: {
    usage: 'PART',
    help: 'find symbols by a part of their name',
    tool: 'apropos_search',
    operands: ['pattern'],
  },
  read: {
    ...names('read_definition', 'name'),
    usage: 'NAME ...',
    help: 'print the text of definitions',
  },
  outline: {
    usage: 'FILE|FOLDER ...',
    help: 'list the definitions in Lisp files, or sum up a folder',
    tool: 'read_definition',
    operands: ['path'],
    calls: (files) =>
      files.length === 0 ? undefined : files.map((path) => ({ tool: 'read_definition', args: { path } })),
  },
  impact: {
    usage: 'NAME',
    help: 'show what a change of a definition would break',
    tool: 'impact_of_change',
    operands: ['name'],
  },
  edit: {
    usage: 'FILE < DEFINITIONS',
    help: 'replace definitions in FILE by those with the same names on standard input',
    tool: 'edit_definitions',
    operands: ['edits'],
    reads: 'always',
    calls: ([path, ...more], text = '') =>
      path === undefined || more.length > 0 || text.trim() === ''
        ? undefined
        : [{ tool: 'edit_definitions', args: { edits: [{ path, op: 'replace', text }] } }],
  },
  rename: {
    usage: 'NAME TO',
    help: 'rename a symbol in all files and in the image',
    tool: 'rename_symbol',
    operands: ['name', 'to'],
  },
  debug: {
    usage: '',
    help: 'list held errors, look into one and go on',
    tool: 'debug',
    operands: [],
  },
  observe: {
    ...forms('observe', 'form'),
    usage: "'(FORM)'",
    help: 'record the calls of code, or profile it',
  },
  status: { usage: '', help: 'show what the image does now', tool: 'image_status', operands: [] },
  interrupt: { usage: '', help: 'interrupt a call that runs', tool: 'interrupt', operands: [] },
  restart: { usage: '', help: 'replace the image by a fresh one', tool: 'restart_image', operands: [] },
};

/** The verbs that call no tool of their own. */
const OTHERS: { readonly [name: string]: Pick<Verb, 'usage' | 'help'> } = {
  call: { usage: 'TOOL NAME=VALUE ...', help: 'call any tool, also with one JSON object' },
  sessions: { usage: '', help: 'list the sessions' },
  stop: { usage: '', help: 'end the session that commands have started here' },
};

/** The usage and the help of all verbs. */
export const HELP = Object.entries({ ...VERBS, ...OTHERS }).map(([name, { usage, help }]) => ({
  name,
  usage: `${name} ${usage}`.trim(),
  help,
}));

/** Returns TEXT, an answer of the server, in which advice to call a tool with an argument, such as
 *  `load_file with forget: true`, is replaced by the command for that. Advice on tools without a verb
 *  stays. */
export function inVerbs(text: string): string {
  return text.replace(ADVICE, (advice, tool, name, flag, value) => {
    const [verb] = Object.entries(VERBS).find(([, each]) => each.tool === tool) ?? [];
    if (verb === undefined) return advice;
    return `live-lisp ${verb} --${name.replaceAll('_', '-')}${flag ? '' : ` ${value}`}`;
  });
}

/** Matches a tool and an argument whose value is true, a number, or a word in quotes. */
const ADVICE = /\b([a-z]+(?:_[a-z]+)*) with ([a-z_]+): (?:(true)\b|"?([\w:/-]+)"?)/g;

/** True when OPERAND of `load` is a file, not a system. */
function isFile(operand: string): boolean {
  return /\.(?:lisp|lsp|cl|asd|fasl)$/i.test(operand) || operand.startsWith('/') || operand.startsWith('.');
}

/** True when WORD is a verb. */
export function isVerb(word: string | undefined): boolean {
  return HELP.some(({ name }) => name === word);
}

/** Returns the verb NAME and its operands; undefined when there is none. */
export function usageOf(name: string): string | undefined {
  return HELP.find((each) => each.name === name)?.usage;
}
