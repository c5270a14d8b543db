// Decides what the command line and the environment mean: one frozen object.

import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, parse, resolve, sep } from 'node:path';
import { UsageError } from './errors.ts';
import { COMMANDS, type Command, checkFlags, splitArguments } from './flags.ts';
import { CLIENT_NAMES, type ClientName, SCOPES, type Scope } from './install/names.ts';
import { cacheFolder, homeFolder, realPath } from './paths.ts';

export interface Config {
  command: Command;
  /** What follows the command: for call the tool's name and its arguments, for search the query. */
  operands: string[];
  /** Where the image runs and relative paths start. */
  root: string;
  /** The directories that file tools may read and write: none where nobody named one and the current directory is
   *  too wide. */
  roots: string[];
  /** The directories that they may read besides. */
  readRoots: string[];
  sbcl: string | undefined;
  heapMb: number;
  /** Whether images are locked in: `auto` where that works, `on` always, and `strict` also without the network. */
  sandbox: (typeof SANDBOXES)[number] | 'off';
  /** Why no image is locked in, as sentences, where `auto` found that none can be. */
  unboxed?: string;
  /** Directories besides the workspace that code in the sandbox changes. */
  write: string[];
  /** Milliseconds that an evaluation may take. */
  evalTimeoutMs: number;
  /** Seconds for which a held error waits after each use. */
  holdSeconds: number;
  init: string | undefined;
  /** Which library manager images use. */
  libraries: (typeof LIBRARIES)[number];
  contractNames: boolean;
  list: (typeof LISTS)[number];
  ask: (typeof ASKS)[number];
  /** What the person allows in advance, as TOOL or TOOL:GLOB. */
  allow: string[];
  /** Seconds that the human has to answer a question. */
  answerSeconds: number;
  /** The folder of what is kept between runs: the audit log, unless it was named, histories, searches and journals. */
  state: string;
  /** The folder for compiled files, and whether it was named. */
  cache: string;
  cacheNamed: boolean;
  /** The file of the audit log, and whether it was named. */
  audit: string;
  auditNamed: boolean;
  /** The folder of the REPL histories of all workspaces. */
  histories: string;
  /** The client that is set up or looked at, where in its configuration, and whether that is only told. */
  client: ClientName | undefined;
  scope: Scope;
  dryRun: boolean;
  /** Whether the client that is set up may run code without asking. */
  trust: boolean;
  /** Whether a lost image is built again. */
  replay: boolean;
  /** Whether evaluations are kept on the disk, and arguments in the audit log. */
  history: boolean;
  auditTexts: boolean;
  /** Days after which records go. */
  keepDays: number;
  /** The folder of the journals of what built images, of all workspaces. */
  journals: string;
  /** The folder of the previews that a person is asked to approve. */
  previews: string;
  /** The folder of what is being done to several files at once. */
  edits: string;
  /** Whether the search learns from past searches, and the folder of what it learned, of all workspaces. */
  memory: boolean;
  searches: string;
  /** The file of the tools that are searched in place of our own. */
  catalog: string | undefined;
}

const NAME_STYLES = ['snake', 'contract'] as const;
const ASKS = ['dangerous', 'cautious'] as const;
const SANDBOXES = ['auto', 'on', 'strict'] as const;
const WHENS = ['on', 'off'] as const;
const LIBRARIES = ['auto', 'none', 'quicklisp', 'qlot', 'ocicl'] as const;
const LISTS = ['full', 'lightweight', 'summary', 'search'] as const;

/** Returns the configuration that ARGV (without node and script) and ENVIRONMENT mean. Throws a
 *  UsageError of one sentence. */
export function readConfig(argv: readonly string[], environment: NodeJS.ProcessEnv): Readonly<Config> {
  const { flags: all, operands } = splitArguments(argv);
  const flags = new Map([...all].map(([name, values]) => [name, values.at(-1) ?? '']));
  const [first = 'serve', ...rest] = operands;
  const command = readCommand(first, rest);
  checkFlags(command, [...all.keys()]);
  const roots = readDirectories('root', all);
  const current = process.cwd();
  const auditNamed = flags.has('audit');
  return Object.freeze({
    command: flags.has('help') ? 'help' : flags.has('version') ? 'version' : command,
    operands: rest,
    root: roots[0] ?? current,
    roots: roots.length > 0 || isTooWide(realPath(current)) ? roots : [current],
    readRoots: readDirectories('read-root', all),
    sbcl: flags.get('sbcl') ?? (environment['LIVE_LISP_SBCL'] || undefined),
    heapMb: readHeap(flags.get('heap') ?? '4GB'),
    sandbox: readSandbox(flags),
    write: readDirectories('write', all),
    evalTimeoutMs: readSeconds('eval-timeout', '30', flags) * 1000,
    holdSeconds: readSeconds('hold', '60', flags),
    init: readInit(flags.get('init')),
    libraries: readChoice('libraries', LIBRARIES, flags),
    contractNames: readChoice('tool-names', NAME_STYLES, flags) === 'contract',
    list: readChoice('list', LISTS, flags),
    ask: readChoice('ask', ASKS, flags),
    allow: all.get('allow') ?? [],
    answerSeconds: readSeconds('answer-time', '600', flags),
    client: flags.has('client') ? readChoice('client', CLIENT_NAMES, flags) : undefined,
    scope: readChoice('scope', SCOPES, flags),
    dryRun: flags.has('dry-run'),
    trust: flags.has('trust'),
    memory: !flags.has('no-memory'),
    catalog: flags.get('catalog'),
    replay: readReplay(flags, environment) === 'on',
    ...readRecords(flags),
    cache: cacheFolder(environment),
    cacheNamed: isAbsolute(environment['XDG_CACHE_HOME'] ?? ''),
    auditNamed,
    ...inState(stateFolder(environment), { auditNamed, audit: resolve(flags.get('audit') ?? '') }),
  });
}

/** Returns the folders and files that the configuration of ARGV and ENVIRONMENT names. Whoever reads it looks at them, so
 *  their file systems must answer. */
export function namedPaths(argv: readonly string[], environment: NodeJS.ProcessEnv): string[] {
  const { flags } = splitArguments(argv);
  const given = ['root', 'read-root', 'write', 'init'].flatMap((name) => flags.get(name) ?? []);
  const own = [cacheFolder(environment), stateFolder(environment), homeFolder() ?? '/', tmpdir()];
  return [process.cwd(), ...given.map((path) => resolve(path)), ...own];
}

/** Returns the command FIRST, which OPERANDS follow. */
function readCommand(first: string, operands: readonly string[]): (typeof COMMANDS)[number] {
  const command = COMMANDS.find((name) => name === first);
  if (command === undefined) {
    throw new UsageError(`Unknown command ${first}; the commands are ${COMMANDS.join(', ')}.`);
  }
  if (command !== 'call' && command !== 'search' && operands.length > 0) {
    throw new UsageError(`The command ${command} takes no ${operands[0]}; see live-lisp --help.`);
  }
  return command;
}

/** Returns where things are kept when STATE is the folder for them; an AUDIT log that was named stays where it is. */
export function inState(
  state: string,
  { auditNamed, audit }: Pick<Config, 'auditNamed' | 'audit'>,
): Pick<Config, 'state' | 'audit' | 'histories' | 'journals' | 'previews' | 'edits' | 'searches'> {
  return {
    state,
    audit: auditNamed ? audit : join(state, 'audit.jsonl'),
    histories: join(state, 'repl-history'),
    journals: join(state, 'journals'),
    previews: join(state, 'previews'),
    edits: join(state, 'edits'),
    searches: join(state, 'searches'),
  };
}

/** Returns the user's folder for what a program keeps between its runs, as ENVIRONMENT has it. */
function stateFolder(environment: NodeJS.ProcessEnv): string {
  const base = environment['XDG_STATE_HOME'];
  if (base !== undefined && isAbsolute(base)) return join(base, 'live-lisp');
  const home = homeFolder();
  return home === undefined ? join(tmpdir(), 'live-lisp') : join(home, '.local', 'state', 'live-lisp');
}

/** Returns the values of the flag NAME as whole paths, each once. */
function readDirectories(name: string, flags: ReadonlyMap<string, string[]>): string[] {
  const paths = (flags.get(name) ?? []).map((value) => resolve(value));
  for (const path of paths) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
      throw new UsageError(`--${name} must be an existing directory, and ${path} is none.`);
    }
  }
  return [...new Set(paths)];
}

/** Returns whether REAL, the real path of a folder, is the root of the file system, or is or contains HOME, the real path of
 *  the user's home. Nobody means one of these as a workspace without saying so. */
export function isTooWide(real: string, home: string = realPath(homeFolder() ?? '/')): boolean {
  return real === parse(real).root || `${home}${sep}`.startsWith(`${real}${sep}`);
}

function readSandbox(flags: ReadonlyMap<string, string>): Config['sandbox'] {
  if (!flags.has('no-sandbox')) return readChoice('sandbox', SANDBOXES, flags);
  if (flags.has('sandbox')) throw new UsageError('Give --sandbox or --no-sandbox, not both.');
  return 'off';
}

function readHeap(value: string): number {
  const match = /^(\d+)(MB|GB)$/i.exec(value);
  const megabytes = match ? Number(match[1]) * (match[2]?.toUpperCase() === 'GB' ? 1024 : 1) : 0;
  if (megabytes < 128 || megabytes > 1024 * 1024) {
    throw new UsageError(`--heap must be a size from 128MB to 1024GB, such as 512MB or 8GB, not ${value}.`);
  }
  return megabytes;
}

function readRecords(
  flags: ReadonlyMap<string, string>,
): Pick<Config, 'history' | 'auditTexts' | 'keepDays'> {
  return {
    history: readChoice('history', WHENS, flags) === 'on',
    auditTexts: readChoice('audit-texts', WHENS, flags) === 'on',
    keepDays: readDays(flags.get('keep-days') ?? '90'),
  };
}

function readDays(value: string): number {
  const days = /^\d+$/.test(value) ? Number(value) : 0;
  if (days < 1 || days > 36_500) {
    throw new UsageError(`--keep-days must be a whole number from 1 to 36500, not ${value}.`);
  }
  return days;
}

/** Returns the seconds that the flag NAME says, or that INITIAL says when it is absent. */
function readSeconds(name: string, initial: string, flags: ReadonlyMap<string, string>): number {
  const value = flags.get(name) ?? initial;
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : 0;
  if (seconds < 0.1 || seconds > 86_400) {
    throw new UsageError(`--${name} must be a number of seconds from 0.1 to 86400, not ${value}.`);
  }
  return seconds;
}

function readInit(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const file = resolve(value);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw new UsageError(`--init must be an existing file, and ${file} is none.`);
  }
  return file;
}

function readReplay(flags: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv): string {
  const given = flags.get('replay') ?? (environment['LIVE_LISP_REPLAY'] || undefined);
  return readChoice('replay', WHENS, new Map(given === undefined ? [] : [['replay', given]]));
}

/** Returns the value of the flag NAME, one of CHOICES; the first when it is absent. */
function readChoice<Choice extends string>(
  name: string,
  choices: readonly [Choice, ...Choice[]],
  flags: ReadonlyMap<string, string>,
): Choice {
  const value = flags.get(name) ?? choices[0];
  const choice = choices.find((each) => each === value);
  if (choice !== undefined) return choice;
  throw new UsageError(
    `--${name} must be ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}, not ${value}.`,
  );
}
