// Lists the verbs of the command line, and the tool that each one calls.

/** The arguments of a call. */
export type Arguments = { readonly [name: string]: unknown };

/** Describes how the operands of a verb become arguments of its tool. */
interface Operands {
  /** The parameters that the operands set. Help texts do not list them as options. */
  gives: readonly string[];
  /** When standard input counts as one more operand, also without `-` as the last operand. Absent when it never
   * does. */
  reads?: 'without operands' | 'always';
  /** Returns the arguments of each call that the operands request; undefined when there are too few or too many
   * operands. */
  calls: (operands: readonly string[]) => Arguments[] | undefined;
}

export interface Verb extends Partial<Operands> {
  /** The operands, for help texts. */
  usage: string;
  help: string;
  /** The name of the tool that the verb calls. The parameters of this tool are options of the verb. Undefined when the
   * verb calls no tool, or when an operand names the tool. */
  tool?: string;
  /** Maps the name of an argument to the tool that is called, in place of `tool`, when this argument is given. */
  tools?: { readonly [argument: string]: string };
  /** Maps an option without a value to the arguments that the option stands for. */
  options?: { readonly [name: string]: Arguments };
}

/** Returns the Operands of a verb whose first operand sets the first parameter in GIVES, and so on. */
const inOrder = (...gives: string[]): Operands => ({
  gives,
  calls: (operands) =>
    operands.length > gives.length
      ? undefined
      : [Object.fromEntries(operands.map((operand, index) => [gives[index], operand]))],
});

/** Returns the Operands of a verb whose operands are Lisp forms, which together set the parameter NAME. */
const forms = (name: string): Operands => ({
  gives: [name],
  reads: 'without operands',
  calls: (operands) => {
    const text = operands.join('\n');
    return text.trim() === '' ? undefined : [{ [name]: text }];
  },
});

/** Returns the Operands of a verb whose operands are names. A single operand sets the parameter NAME. Several operands
 * set the parameter `names`. If LEAST is 0, there can be no operand, because an option can replace it. */
const names = (name: string, least: 0 | 1 = 1): Operands => ({
  gives: [name, 'names'],
  calls: ([first, ...more]) => {
    if (first === undefined) return least === 0 ? [{}] : undefined;
    return [more.length === 0 ? { [name]: first } : { names: [first, ...more] }];
  },
});

/** Returns the Operands of a verb each of whose operands requests one call. ARGUMENTS_OF returns the arguments of this
 * call. */
const each = (gives: string[], argumentsOf: (operand: string) => Arguments): Operands => ({
  gives,
  calls: (operands) => (operands.length === 0 ? undefined : operands.map(argumentsOf)),
});

/** The options of verbs that run code, and the arguments that they stand for. `fresh` is a string parameter, which
 * also has other values. */
const RUNNING = { hold: { on_error: 'hold' }, fresh: { fresh: 'true' } } as const;

/** The verbs, by name. */
export const VERBS: { readonly [name: string]: Verb } = {
  eval: {
    usage: "'(FORM)' ...",
    help: 'evaluate forms, from operands or from standard input',
    tool: 'eval_form',
    options: RUNNING,
    ...forms('form'),
  },
  load: {
    usage: 'FILE|SYSTEM ...',
    help: 'load Lisp files and ASDF systems, in this order',
    tool: 'load_file',
    tools: { system: 'load_system' },
    options: RUNNING,
    ...each(['path', 'system'], (operand) => ({ [isFile(operand) ? 'path' : 'system']: operand })),
  },
  test: {
    usage: '[SYSTEM|PACKAGE::TEST]',
    help: 'run tests: all in the workspace, those of a system, or one',
    tool: 'run_tests',
    options: RUNNING,
    gives: ['system', 'test'],
    calls: ([name, ...more]) => {
      if (more.length > 0) return undefined;
      return [name === undefined ? {} : { [name.includes(':') ? 'test' : 'system']: name }];
    },
  },
  callers: {
    usage: 'NAME ...',
    help: 'find the functions that call these',
    tool: 'who_calls',
    ...names('name', 0),
  },
  describe: {
    usage: 'NAME ...',
    help: 'describe what symbols name',
    tool: 'describe_symbol',
    ...names('symbol'),
  },
  apropos: {
    usage: 'PART',
    help: 'find symbols by a part of their name',
    tool: 'apropos_search',
    ...inOrder('pattern'),
  },
  read: {
    usage: 'NAME ...',
    help: 'print the text of definitions',
    tool: 'read_definition',
    ...names('name'),
  },
  outline: {
    usage: 'FILE|FOLDER ...',
    help: 'list the definitions in Lisp files, or summarize a folder',
    tool: 'read_definition',
    ...each(['path'], (path) => ({ path })),
  },
  impact: {
    usage: 'NAME',
    help: 'show what a change of a definition would break',
    tool: 'impact_of_change',
    ...inOrder('name'),
  },
  edit: {
    usage: 'FILE < DEFINITIONS',
    help: 'replace definitions in FILE with those of the same names from standard input',
    tool: 'edit_definitions',
    gives: ['edits'],
    reads: 'always',
    calls: ([path, text, ...more]) =>
      text === undefined || more.length > 0 ? undefined : [{ edits: [{ path, op: 'replace', text }] }],
  },
  rename: {
    usage: 'NAME TO',
    help: 'rename a symbol in all files and in the image',
    tool: 'rename_symbol',
    ...inOrder('name', 'to'),
  },
  debug: {
    usage: '',
    help: 'list errors held for debugging, inspect one, continue',
    tool: 'debug',
    ...inOrder(),
  },
  observe: {
    usage: "'(FORM)'",
    help: 'record the calls that a form makes, or profile it',
    tool: 'observe',
    ...forms('form'),
  },
  status: { usage: '', help: 'show what the image does now', tool: 'image_status', ...inOrder() },
  interrupt: { usage: '', help: 'interrupt a call that runs', tool: 'interrupt', ...inOrder() },
  restart: {
    usage: '',
    help: 'replace the image by a fresh one',
    tool: 'restart_image',
    ...inOrder(),
  },
  call: { usage: 'TOOL NAME=VALUE ...', help: 'call any tool; its arguments can also be one JSON object' },
  page: { usage: '', help: 'print a link to the page of the session, and open it in a browser' },
  sessions: { usage: '', help: 'list the sessions' },
  stop: { usage: '', help: 'end the session that commands have started here' },
};

/** Returns the verb NAME; undefined when there is none. */
export function verbNamed(name: string | undefined): Verb | undefined {
  return name !== undefined && Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
}

/** Returns the verb NAME with its operands, for help texts. */
export function usageOf(name: string): string {
  return `${name} ${VERBS[name]?.usage}`.trim();
}

/** Returns the name of the first verb that calls TOOL; undefined when there is none. */
export function verbOf(tool: string): string | undefined {
  return Object.keys(VERBS).find((name) => VERBS[name]?.tool === tool);
}

/** Returns TEXT, an answer of the server, with its advice changed to what a user of the command line types. Advice to
 * call a tool, such as `load_file with forget: true`, becomes a command with an option. If the advice names no tool,
 * such as `a call with on_error: "hold"`, only the argument becomes an option. Advice about a tool without a verb stays
 * as it is. */
export function inVerbs(text: string): string {
  return text.replace(ADVICE, (advice, tool, name, value) => {
    const command = tool === 'call' ? 'call with' : verbCommand(tool);
    const options = optionsFor(name, value);
    return command === undefined || options === undefined ? advice : `${command}${options}`;
  });
}

/** Matches advice such as `load_file with forget: true`: the name of a tool or the word `call`, then `with`, an
 * argument and its value. The value is true, a number, a word, or a JSON string or array. */
const ADVICE = /\b([a-z]+(?:_[a-z]+)*) with ([a-z_]+): (true\b|\[[^\]\n]*\]|"(?:[^"\\\n]|\\.)*"|[\w:/-]+)/g;

function verbCommand(tool: string): string | undefined {
  const verb = verbOf(tool);
  return verb && `live-lisp ${verb}`;
}

/** Returns the options that set the parameter NAME to VALUE, each after a space. Returns undefined when VALUE begins
 * like a JSON string or array but is malformed. */
function optionsFor(name: string, value: string): string | undefined {
  const option = ` --${name.replaceAll('_', '-')}`;
  if (value === 'true') return option;
  try {
    const values: unknown[] = /^["[]/.test(value) ? [JSON.parse(value)].flat() : [value];
    return values.map((each) => `${option} ${shellWord(String(each))}`).join('');
  } catch {
    return undefined;
  }
}

/** Returns TEXT quoted, if necessary, so that a shell reads it as one word. */
function shellWord(text: string): string {
  return /^[\w:/.,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns true when OPERAND of the verb `load` names a file and not a system. */
function isFile(operand: string): boolean {
  return /\.(?:lisp|lsp|cl|asd|fasl)$/i.test(operand) || operand.startsWith('/') || operand.startsWith('.');
}
