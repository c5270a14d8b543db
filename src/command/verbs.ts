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
  /** Options that take no value, with the arguments that each stands for. */
  options?: { readonly [name: string]: VerbCall['args'] };
  /** True when the verb reads its text from stdin if there are no operands. */
  readsInput?: boolean;
  /** True when the verb reads stdin even if there are operands. */
  alwaysReads?: boolean;
  /** Returns the calls for OPERANDS; undefined when their number is wrong. INPUT is the text of stdin, if
   *  that was read. */
  calls: (operands: readonly string[], input: string | undefined) => VerbCall[] | undefined;
}

/** Returns a verb for a TOOL whose argument NAME is a text of forms: the operands, or standard input. */
function formVerb(tool: string, name: string, usage: string, help: string): Verb {
  return {
    usage,
    help,
    tool,
    readsInput: true,
    calls: (operands, input) => {
      const text = operands.length > 0 ? operands.join('\n') : input;
      return text?.trim() ? [{ tool, args: { [name]: text } }] : undefined;
    },
  };
}

/** Returns a verb for a TOOL that takes one name as the argument NAME, or several as `names`. */
function namesVerb(tool: string, name: string, usage: string, help: string): Verb {
  return {
    usage,
    help,
    tool,
    calls: (names) => {
      if (names.length === 0) return undefined;
      return [{ tool, args: names.length === 1 ? { [name]: names[0] } : { names } }];
    },
  };
}

/** Returns a verb for a TOOL that takes one operand as the argument NAME. */
function oneVerb(tool: string, name: string, usage: string, help: string): Verb {
  return {
    usage,
    help,
    tool,
    calls: ([operand, ...more]) =>
      operand === undefined || more.length > 0 ? undefined : [{ tool, args: { [name]: operand } }],
  };
}

/** Returns a verb for a TOOL that takes options alone. */
function optionsVerb(tool: string, help: string): Verb {
  return {
    usage: '',
    help,
    tool,
    calls: (operands) => (operands.length > 0 ? undefined : [{ tool, args: {} }]),
  };
}

/** Options of the verbs that run code. */
const RUNNING = { hold: { on_error: 'hold' }, fresh: { fresh: 'true' } } as const;

/** The verbs by their names. */
export const VERBS: { readonly [name: string]: Verb } = {
  eval: {
    ...formVerb(
      'eval_form',
      'form',
      "'(FORM)' ...",
      'evaluate forms; without operands those on standard input',
    ),
    options: RUNNING,
  },
  load: {
    usage: 'FILE|SYSTEM ...',
    help: 'load Lisp files and ASDF systems, in this order',
    tool: 'load_file',
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
    options: RUNNING,
    calls: ([name, ...more]) => {
      if (more.length > 0) return undefined;
      const args = name === undefined ? {} : name.includes(':') ? { test: name } : { system: name };
      return [{ tool: 'run_tests', args }];
    },
  },
  callers: namesVerb('who_calls', 'name', 'NAME ...', 'find the functions that call these'),
  describe: namesVerb('describe_symbol', 'symbol', 'NAME ...', 'describe what symbols name'),
  apropos: oneVerb('apropos_search', 'pattern', 'PART', 'find symbols by a part of their name'),
  read: namesVerb('read_definition', 'name', 'NAME ...', 'print the text of definitions'),
  outline: {
    usage: 'FILE|FOLDER ...',
    help: 'list the definitions in Lisp files, or sum up a folder',
    tool: 'read_definition',
    calls: (files) =>
      files.length === 0 ? undefined : files.map((path) => ({ tool: 'read_definition', args: { path } })),
  },
  impact: oneVerb('impact_of_change', 'name', 'NAME', 'show what a change of a definition would break'),
  edit: {
    usage: 'FILE',
    help: 'replace definitions in FILE by those with the same names on standard input',
    tool: 'edit_definitions',
    readsInput: true,
    alwaysReads: true,
    calls: ([path, ...more], text) =>
      path === undefined || more.length > 0
        ? undefined
        : [{ tool: 'edit_definitions', args: { edits: [{ path, op: 'replace', text }] } }],
  },
  rename: {
    usage: 'NAME TO',
    help: 'rename a symbol in all files and in the image',
    tool: 'rename_symbol',
    calls: ([name, to, ...more]) =>
      to === undefined || more.length > 0 ? undefined : [{ tool: 'rename_symbol', args: { name, to } }],
  },
  debug: optionsVerb('debug', 'list held errors, look into one and go on'),
  observe: formVerb('observe', 'form', "'(FORM)'", 'record the calls of code, or profile it'),
  status: optionsVerb('image_status', 'show what the image does now'),
  interrupt: optionsVerb('interrupt', 'interrupt a call that runs'),
  restart: optionsVerb('restart_image', 'replace the image by a fresh one'),
};

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

/** True when WORD is a verb: one of VERBS, `call`, or one that manages sessions. */
export function isVerb(word: string | undefined): boolean {
  return (
    word !== undefined && (Object.keys(VERBS).includes(word) || ['call', 'sessions', 'stop'].includes(word))
  );
}

/** Returns the verb NAME and its operands. */
export function usageOf(name: string): string {
  return `${name} ${VERBS[name]?.usage ?? ''}`.trim();
}
