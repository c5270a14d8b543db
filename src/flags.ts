// Lists the commands and flags, and parses a command line into flags and other words.

import { UsageError } from './errors.ts';

export const COMMANDS = [
  'serve',
  'call',
  'tools',
  'search',
  'doctor',
  'install',
  'uninstall',
  'forget',
] as const;
export type Command = (typeof COMMANDS)[number] | 'help' | 'version';

interface Flag {
  name: string;
  value?: string;
  about: string;
}

export const FLAGS: readonly Flag[] = [
  {
    name: 'root',
    value: 'DIR',
    about: 'the workspace; the current directory when absent; can be given several times',
  },
  {
    name: 'read-root',
    value: 'DIR',
    about: 'a directory whose files can be read as well; can be given several times',
  },
  {
    name: 'sbcl',
    value: 'PATH',
    about: 'the SBCL to start; also LIVE_LISP_SBCL; else sbcl on PATH, or of a package manager',
  },
  { name: 'heap', value: 'SIZE', about: 'heap of the image, such as 512MB or 8GB (default 4GB)' },
  {
    name: 'sandbox',
    value: 'HOW',
    about:
      'auto (default): lock images in where bubblewrap works; on: start none without; strict: also no network, and temporary files of its own',
  },
  { name: 'no-sandbox', about: 'do not lock images in: code in them can do all that you can' },
  {
    name: 'write',
    value: 'DIR',
    about: 'a directory that code in the sandbox can change as well; can be given several times',
  },
  { name: 'eval-timeout', value: 'SECONDS', about: 'limit of one evaluation (default 30)' },
  { name: 'hold', value: 'SECONDS', about: 'how long a held error waits after each use (default 60)' },
  { name: 'init', value: 'FILE', about: 'a Lisp file to load into every new image' },
  {
    name: 'libraries',
    value: 'MANAGER',
    about:
      'auto (default): Quicklisp, qlot or ocicl where one is set up, when first needed; none; or the name of one',
  },
  {
    name: 'tool-names',
    value: 'STYLE',
    about: 'contract: list apropos-search and who-calls in that spelling; snake (default)',
  },
  {
    name: 'list',
    value: 'MODE',
    about: 'what tools/list shows: full (default), lightweight, summary or search; all can be called',
  },
  { name: 'ask', value: 'LEVEL', about: 'ask the user from this level on: dangerous (default) or cautious' },
  {
    name: 'allow',
    value: 'TOOL[:GLOB]',
    about: 'run this tool without asking, in files that match; can be given several times',
  },
  {
    name: 'answer-time',
    value: 'SECONDS',
    about: 'how long a question to the user can be answered (default 600)',
  },
  { name: 'audit', value: 'FILE', about: 'the audit log; below the user state directory when absent' },
  {
    name: 'replay',
    value: 'WHEN',
    about: 'on (default): build a lost image again from a journal; off: keep none; also LIVE_LISP_REPLAY',
  },
  { name: 'no-memory', about: 'do not learn from past searches which tools they led to' },
  {
    name: 'catalog',
    value: 'FILE',
    about: 'with search: tools of others, one in JSON a line, in place of our own',
  },
  {
    name: 'history',
    value: 'WHEN',
    about: 'on (default): keep evaluations for get_repl_history on the disk; off: only in memory',
  },
  {
    name: 'audit-texts',
    value: 'WHEN',
    about: 'on (default): keep arguments in the audit log; off: their digests',
  },
  { name: 'keep-days', value: 'DAYS', about: 'how long records are kept at most (default 90)' },
  {
    name: 'client',
    value: 'NAME',
    about: 'the client to install to, to uninstall from, or that the doctor looks at',
  },
  { name: 'scope', value: 'WHERE', about: 'user (default): in all projects; project: in this folder' },
  { name: 'trust', about: 'with install: the client runs code without asking, in a sandbox only' },
  { name: 'dry-run', about: 'with install and uninstall: only show what would be done' },
  { name: 'help', about: 'show this text' },
  { name: 'version', about: 'show the version' },
];

/** Returns the flags in ARGV with their values, and the other words. Throws a UsageError for an unknown flag. */
export function splitArguments(argv: readonly string[]): {
  flags: Map<string, string[]>;
  operands: string[];
} {
  const flags = new Map<string, string[]>();
  const operands: string[] = [];
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!/^-./.test(word)) {
      operands.push(word);
      continue;
    }
    if (!word.startsWith('--')) throw new UsageError(`Unknown flag ${word}; see live-lisp --help.`);
    const [name = '', attached] = word.slice(2).split(/=(.*)/s);
    const flag = FLAGS.find((each) => each.name === name);
    if (flag === undefined) throw new UsageError(`Unknown flag --${name}; see live-lisp --help.`);
    if (flag.value === undefined && attached !== undefined) {
      throw new UsageError(`The flag --${name} takes no value.`);
    }
    const value = flag.value === undefined ? '' : (attached ?? rest.shift());
    if (value === undefined || (flag.value !== undefined && value === '')) {
      throw new UsageError(`The flag --${name} needs a value: --${name} ${flag.value}.`);
    }
    flags.set(name, [...(flags.get(name) ?? []), value]);
  }
  return { flags, operands };
}

/** The commands that take a flag. A flag that is not listed goes with all commands but install and uninstall. */
const FLAG_COMMANDS: { readonly [flag: string]: readonly Command[] } = {
  catalog: ['search'],
  client: ['install', 'uninstall', 'doctor'],
  scope: ['install', 'uninstall'],
  trust: ['install'],
  'dry-run': ['install', 'uninstall'],
};

/** Throws a UsageError when one of the flags NAMES would have no effect on COMMAND. */
export function checkFlags(command: Command, names: readonly string[]): void {
  if (names.includes('help') || names.includes('version')) return;
  const sets = command === 'install' || command === 'uninstall';
  for (const name of names) {
    const commands = FLAG_COMMANDS[name];
    if (commands === undefined && sets) {
      throw new UsageError(
        `The command ${command} takes no --${name}; put it behind live-lisp.js in the client's configuration, where it stays.`,
      );
    }
    if (commands?.includes(command) === false) {
      throw new UsageError(`The flag --${name} is for ${commands.join(' and ')}, not for ${command}.`);
    }
  }
}
