// Converts the command line and the environment to one frozen configuration. flags.ts says what each flag means.

import { statSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { verbNamed } from './command/verbs.ts';
import { COMMANDS } from './command-names.ts';
import { UsageError } from './errors.ts';
import { checkFlags, splitArguments } from './flags.ts';
import { CLIENT_NAMES, SCOPES } from './install/names.ts';
import { cacheFolder, homeFolder, isTooWide, realPath, servingFolder } from './paths.ts';
import { shellWords } from './words.ts';

const NAME_STYLES = ['snake', 'contract'] as const;
const ASK_LEVELS = ['dangerous', 'cautious'] as const;
const SANDBOXES = ['auto', 'on', 'strict'] as const;
const ON_OFF = ['on', 'off'] as const;
const LIBRARIES = ['auto', 'none', 'quicklisp', 'qlot', 'ocicl'] as const;
const LISTS = ['full', 'lightweight', 'summary', 'search'] as const;

export type Config = ReturnType<typeof readConfig> & {
  /** The reason, as sentences, why images run without a sandbox. Set when `auto` found no sandbox that works. */
  noSandboxReason?: string;
};

/** Returns the configuration for ARGV, which does not contain the paths of node and the script, and ENVIRONMENT. Throws
 * a UsageError with a message of one sentence. */
export function readConfig(argv: readonly string[], environment: NodeJS.ProcessEnv) {
  const { flags: all, operands } = splitArguments(argv);
  // Of a flag that is given several times, the last value counts. Flags with several values are read from `all`.
  const flags = new Map([...all].map(([name, values]) => [name, values.at(-1) ?? '']));
  const [first = 'serve', ...rest] = operands;
  const asksHelp = flags.has('help');
  // A verb, such as eval, gets here only with --help, or when it is not the first word, which is an error. runVerb runs
  // it otherwise.
  const asksHelpOnVerb = asksHelp && verbNamed(first) !== undefined;
  const command = asksHelpOnVerb ? 'help' : readCommand(first, rest);
  checkFlags(command, [...all.keys()]);
  const roots = readDirectories('root', all);
  const current = process.cwd();
  const auditNamed = flags.has('audit');
  const images = readImages(flags, all);
  return Object.freeze({
    command: asksHelp ? 'help' : flags.has('version') ? 'version' : command,
    /** The words that follow the command: for `search`, the query; for `help`, a verb or a tool; for `dial`, the name
     * of an image; for `image`, options of SBCL. */
    operands: asksHelpOnVerb ? [first] : rest,
    /** The working directory of the image. Relative paths start in it. */
    root: roots[0] ?? current,
    /** Directories in which file tools may read and write. Without --root, this is the current directory; if that is
     * too wide for a workspace, as the home folder is, it is an empty list. */
    roots: roots.length > 0 || isTooWide(realPath(current)) ? roots : [current],
    /** Further directories in which file tools may read. */
    readRoots: readDirectories('read-root', all),
    sbcl: flags.get('sbcl') ?? (environment['LIVE_LISP_SBCL'] || undefined),
    heapMb: readHeap(flags.get('heap') ?? '4GB'),
    /** The condition under which images run in a sandbox. `auto`: bubblewrap works on this machine. `on`: always.
     * `strict`: always, and without network. `off`: never. */
    sandbox: readSandbox(flags, images),
    /** The image that runs the calls. `own`: one that the server starts. `auto`: one of this workspace that servers can
     * attach to or, if there is none, one that the server starts. Other values: the URL of `swank`, the name of
     * `imageCommand`, or the name of an image that servers can attach to. */
    image: images[0].image,
    /** The address of the Swank or Slynk server of the image, if --image contains one. */
    swank: images[0].swank,
    /** The command that connects to the image, if --image contains one. No sandbox of this machine confines that
     * image. */
    imageCommand: images[0].imageCommand,
    /** The images, when --image is given several times; else []. `image`, `swank` and `imageCommand` are those of the
     * first. */
    images: images.length > 1 ? images : [],
    /** The flag that requires a sandbox; undefined when there is none. With this flag, --image auto means own, because
     * no sandbox confines an image that somebody else runs. */
    ownImageRequiredBy: requiredSandbox(flags),
    /** The folder with the sockets of images that servers can attach to; undefined when this user has no
     * home. */
    serving: servingFolder(environment),
    /** Directories outside the workspace in which sandboxed code can write. */
    write: readDirectories('write', all),
    evalTimeoutMs: readSeconds('eval-timeout', '30', flags) * 1000,
    /** Number of seconds for which an error is held, that is, its thread stays stopped so that the tool debug can
     * examine it. The time begins anew after each request about the error. */
    holdSeconds: readSeconds('hold', '60', flags),
    init: readInit(flags.get('init')),
    libraries: readChoice('libraries', LIBRARIES, flags),
    contractNames: readChoice('tool-names', NAME_STYLES, flags) === 'contract',
    list: readChoice('list', LISTS, flags),
    ask: readChoice('ask', ASK_LEVELS, flags),
    /** Standing approvals from the start of the server, as TOOL or TOOL:GLOB. */
    allow: all.get('allow') ?? [],
    answerSeconds: readSeconds('answer-time', '600', flags),
    ...readHttp(flags, environment),
    client: flags.has('client') ? readChoice('client', CLIENT_NAMES, flags) : undefined,
    /** The configuration that install and uninstall change: that of the user or that of the project. */
    scope: readChoice('scope', SCOPES, flags),
    dryRun: flags.has('dry-run'),
    /** True when the session's page is served from the start of the server. */
    page: flags.has('page'),
    /** True when the client may run code without asking the user. */
    trust: flags.has('trust'),
    /** The path of a file that lists the tools to search, in place of the built-in list. */
    catalog: flags.get('catalog'),
    /** True when a lost image is rebuilt from its journal. */
    replay: readReplay(flags, environment) === 'on',
    /** True when evaluations are recorded on the disk. */
    history: readChoice('history', ON_OFF, flags) === 'on',
    /** True when the audit log contains the texts of arguments. Otherwise it contains digests of them. */
    auditTexts: readChoice('audit-texts', ON_OFF, flags) === 'on',
    keepDays: readDays(flags.get('keep-days') ?? '90'),
    cache: cacheFolder(environment),
    /** True when XDG_CACHE_HOME names the folder `cache`. */
    cacheNamed: isAbsolute(environment['XDG_CACHE_HOME'] ?? ''),
    auditNamed,
    ...inState(stateFolder(environment), { auditNamed, audit: resolve(flags.get('audit') ?? '') }),
  });
}

/** Returns the files and folders that a start with ARGV and ENVIRONMENT will access. The caller checks first that their
 * file systems answer. A new flag that names a file or folder belongs here too. */
export function namedPaths(argv: readonly string[], environment: NodeJS.ProcessEnv): string[] {
  const { flags } = splitArguments(argv);
  const given = ['root', 'read-root', 'write', 'init', 'http-token'].flatMap((name) => flags.get(name) ?? []);
  const mapped = (flags.get('map') ?? []).map((text) => MAP.exec(text)?.[2] ?? '');
  const own = [cacheFolder(environment), stateFolder(environment), homeFolder() ?? '/', tmpdir()];
  const serving = servingFolder(environment) ?? [];
  return [process.cwd(), ...[...given, ...mapped].map((path) => resolve(path)), ...own].concat(serving);
}

/** Returns FIRST as a command. Throws a UsageError when it is no command, or when it does not accept OPERANDS. */
function readCommand(first: string, operands: readonly string[]): (typeof COMMANDS)[number] {
  const command = COMMANDS.find((name) => name === first);
  if (command === undefined) {
    throw new UsageError(unknownCommand(first));
  }
  const takesAny = command === 'search' || command === 'help' || command === 'image';
  const most = command === 'dial' ? 1 : takesAny ? Number.POSITIVE_INFINITY : 0;
  if (operands.length > most) {
    throw new UsageError(`The command ${command} takes no ${operands[most]}; see live-lisp --help.`);
  }
  return command;
}

function unknownCommand(word: string): string {
  if (verbNamed(word) !== undefined)
    return `The command ${word} must be the first word: live-lisp ${word} ... with its options after it.`;
  const tool = /^[a-z]+(?:_[a-z]+)+$/.test(word);
  const list = 'live-lisp --help lists the commands.';
  return tool
    ? `Unknown command ${word}; live-lisp call ${word} calls the tool of that name, and ${list}`
    : `Unknown command ${word}; ${list}`;
}

/** Returns the paths of all records in the folder STATE. AUDIT_NAMED is true when the user has chosen the path AUDIT
 * for the audit log. Otherwise AUDIT is not used. */
export function inState(state: string, { auditNamed, audit }: { auditNamed: boolean; audit: string }) {
  return {
    /** The folder of all data that remains between runs: histories and journals, and the audit log unless the user
     * named another file. */
    state,
    audit: auditNamed ? audit : join(state, 'audit.jsonl'),
    histories: join(state, 'repl-history'),
    journals: join(state, 'journals'),
    /** The folder for flame graphs of profiles. */
    profiles: join(state, 'profiles'),
    previews: join(state, 'previews'),
    /** The folder of the tokens of HTTP servers. Code in the sandbox cannot see it. */
    tokens: join(state, 'tokens'),
    /** The folder with records of edits that replace several files. If a server is killed during such an edit, the next
     * one completes or undoes it by the record. */
    edits: join(state, 'edits'),
  };
}

function stateFolder(environment: NodeJS.ProcessEnv): string {
  const base = environment['XDG_STATE_HOME'];
  if (base !== undefined && isAbsolute(base)) return join(base, 'live-lisp');
  const home = homeFolder();
  return home === undefined ? join(tmpdir(), 'live-lisp') : join(home, '.local', 'state', 'live-lisp');
}

/** Returns the values of the flag NAME as absolute paths, each once. Throws a UsageError when one is not a folder. */
function readDirectories(name: string, flags: ReadonlyMap<string, string[]>): string[] {
  const paths = (flags.get(name) ?? []).map((value) => resolve(value));
  for (const path of paths) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
      throw new UsageError(`--${name} must be an existing directory; ${path} is not one.`);
    }
  }
  return [...new Set(paths)];
}

function readSandbox(
  flags: ReadonlyMap<string, string>,
  images: ImageChoices,
): (typeof SANDBOXES)[number] | 'off' {
  if (!flags.has('no-sandbox')) {
    const how = readChoice('sandbox', SANDBOXES, flags);
    return areAllByCommand(images) ? 'off' : how;
  }
  if (flags.has('sandbox')) throw new UsageError('Give --sandbox or --no-sandbox, not both.');
  return 'off';
}

/** Returns the flag that requires a sandbox for images; undefined when it is not given. */
function requiredSandbox(flags: ReadonlyMap<string, string>): string | undefined {
  const how = flags.get('sandbox');
  return how === 'on' || how === 'strict' ? `--sandbox ${how}` : undefined;
}

/** A value of `--image`. */
interface ImageChoice {
  image: string;
  swank: SwankServer | undefined;
  imageCommand: CommandLine | undefined;
}

type ImageChoices = [ImageChoice, ...ImageChoice[]];

interface SwankServer {
  kind: 'swank' | 'slynk';
  host: string;
  port: number;
}

/** A command that connects to the image NAME, with the values of `--map` for this image. */
interface CommandLine {
  name: string;
  words: readonly string[];
  maps: { here: string; there: string }[];
}

/** Returns the images to use. ALL has the values of `--image`, which name them. Throws a UsageError when two have the
 * same name, or when FLAGS contain a flag that is impossible with these images. */
function readImages(flags: ReadonlyMap<string, string>, all: ReadonlyMap<string, string[]>): ImageChoices {
  const [first = 'auto', ...more] = all.get('image') ?? [];
  const images: ImageChoices = [readImage(first), ...more.map(readImage)];
  checkImageNames(images);
  addMaps(
    images.flatMap(({ imageCommand }) => imageCommand ?? []),
    all.get('map') ?? [],
  );
  checkFlagsOfOwnSbcl(images, flags);
  checkConfined(images, flags);
  return images;
}

function readImage(text: string): ImageChoice {
  const swank = readSwank(text);
  const imageCommand = swank === undefined ? readImageCommand(text) : undefined;
  return { image: imageCommand?.name ?? text, swank, imageCommand };
}

function checkImageNames(images: ImageChoices): void {
  const names = images.map(({ image }) => image);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined)
    throw new UsageError(`--image ${double} is given twice; give each image a name of its own.`);
  if (names.includes('auto') && names.includes('own'))
    throw new UsageError(
      '--image auto and --image own both set the image for calls that name none, so give only one of them.',
    );
}

function checkFlagsOfOwnSbcl(images: ImageChoices, flags: ReadonlyMap<string, string>): void {
  const useless = FLAGS_OF_OWN_SBCL.find((flag) => flags.has(flag));
  if (useless === undefined || !areAllByCommand(images)) return;
  throw new UsageError(
    `--${useless} applies only to an SBCL on this machine, so it cannot be combined with --image ${images[0].image}=COMMAND; leave it out, or give SBCL options in the command.`,
  );
}

/** Throws a UsageError when FLAGS require a sandbox, and IMAGES contain one that somebody else runs. */
function checkConfined(images: ImageChoices, flags: ReadonlyMap<string, string>): void {
  const sandbox = requiredSandbox(flags);
  const unconfined = images.find(({ image }) => image !== 'auto' && image !== 'own');
  if (sandbox === undefined || unconfined === undefined) return;
  throw new UsageError(
    `--image ${unconfined.image} is an image outside any sandbox, so it cannot be combined with ${sandbox}; leave one of them out.`,
  );
}

function areAllByCommand(images: ImageChoices): boolean {
  return images.every(({ imageCommand }) => imageCommand !== undefined);
}

/** Returns the Swank or Slynk server that TEXT, a value of --image, names; undefined when TEXT is another kind of
 * value. Throws a UsageError when the server is not on this machine. */
function readSwank(text: string): SwankServer | undefined {
  const kind = (['swank', 'slynk'] as const).find((each) => text.startsWith(`${each}://`));
  if (kind === undefined) return undefined;
  const name = kind === 'swank' ? 'Swank' : 'Slynk';
  const [, host = '', port = ''] = /^\w+:\/\/(.*?):(\d{1,5})\/?$/.exec(text) ?? [];
  if (Number(port) < 1 || Number(port) > 65_535)
    throw new UsageError(
      `--image ${kind}://127.0.0.1:PORT needs the port of ${name}, such as 4005, not ${text}.`,
    );
  if (!LOOPBACK.includes(host)) {
    throw new UsageError(
      `--image ${text} is not on this machine, and the connection to ${name} is not encrypted; give --image NAME='ssh -T HOST live-lisp dial', or the host 127.0.0.1.`,
    );
  }
  return { kind, host, port: Number(port) };
}

const LOOPBACK = ['127.0.0.1', 'localhost'];

/** Flags for the SBCL that the server itself starts. They have no effect when each --image is NAME=COMMAND. */
const FLAGS_OF_OWN_SBCL = ['sbcl', 'heap', 'init', 'libraries', 'write'];

/** Parses TEXT, a value of `--image`, as NAME=COMMAND. Returns undefined when TEXT has no command. Throws a UsageError
 * when TEXT is malformed. */
function readImageCommand(text: string): CommandLine | undefined {
  if (!text.includes('=')) return undefined;
  const [, name = '', line = ''] = /^(.*?)=(.*)$/s.exec(text) ?? [];
  if (!/^[A-Za-z0-9][\w.+-]{0,99}$/.test(name) || name === 'auto' || name === 'own') {
    throw new UsageError(
      `--image NAME=COMMAND needs a name of letters and digits, such as build, other than auto and own; it has ${name || 'an empty one'}.`,
    );
  }
  const words = shellWords(line);
  if (words === undefined) {
    throw new UsageError(`--image ${name}=COMMAND has an unclosed quote, or ends in a backslash: ${line}`);
  }
  if (words.length === 0) {
    throw new UsageError(
      `--image ${name}= needs a command that starts SBCL, such as ${name}='ssh -T ${name} sbcl'.`,
    );
  }
  return { name, words, maps: [] };
}

/** Matches a value of `--map`: the name of an image, a folder here, and a folder there. */
const MAP = /^([^:=]*):(.*)=(.*)$/s;

/** Parses TEXTS, the values of `--map`, and adds each to the command in COMMANDS that it names. Throws a UsageError
 * when a value is malformed. */
function addMaps(commands: readonly CommandLine[], texts: readonly string[]): void {
  if (commands.length === 0 && texts.length > 0)
    throw new UsageError('--map is for an image elsewhere: give --image NAME=COMMAND, too.');
  for (const text of texts) {
    const [, image, local = '', there = ''] = MAP.exec(text) ?? [];
    const command = commands.find(({ name }) => name === image);
    if (command === undefined || !there.startsWith('/') || local === '') {
      const names = command === undefined ? commands.map(({ name }) => name) : [command.name];
      throw new UsageError(
        `--map must be ${names.map((name) => `${name}:LOCAL=REMOTE`).join(' or ')} (a local folder and its absolute path where the image runs), such as ${names[0]}:.=/srv/app, not ${text}.`,
      );
    }
    const here = resolve(local);
    if (!statSync(here, { throwIfNoEntry: false })?.isDirectory()) {
      throw new UsageError(`--map ${text} needs an existing directory before =; ${here} is not one.`);
    }
    command.maps.push({ here, there: there.replace(/(?<=.)\/+$/, '') });
  }
}

/** Returns the address at which HTTP is served, if --http is given, and the token that the user gave for it. Throws a
 * UsageError when other machines could connect and the user gave no token. */
function readHttp(flags: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv) {
  const place = flags.get('http');
  const file = flags.get('http-token');
  const httpToken = {
    file: file === undefined ? undefined : resolve(file),
    text: environment['LIVE_LISP_HTTP_TOKEN'] || undefined,
  };
  if (place === undefined) {
    if (file === undefined) return { http: undefined, httpToken };
    throw new UsageError('--http-token is for a server over HTTP: give --http PORT, too.');
  }
  const [, bracketed, name, port = ''] = /^(?:(?:\[([^[\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(place) ?? [];
  if (port === '' || Number(port) > 65_535) {
    throw new UsageError(`--http must be PORT or HOST:PORT, such as 8080 or [::1]:8080, not ${place}.`);
  }
  const host = bracketed ?? name ?? LOOPBACK[0] ?? '';
  const isLocal = LOOPBACK.includes(host) || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
  if (!isLocal && file === undefined && httpToken.text === undefined) {
    throw new UsageError(
      `Other machines can connect to --http ${place}, so set a token: --http-token FILE, or LIVE_LISP_HTTP_TOKEN.`,
    );
  }
  return { http: { host, port: Number(port) }, httpToken };
}

function readHeap(value: string): number {
  const match = /^(\d+)(MB|GB)$/i.exec(value);
  const megabytes = match ? Number(match[1]) * (match[2]?.toUpperCase() === 'GB' ? 1024 : 1) : 0;
  if (megabytes < 128 || megabytes > 1024 * 1024) {
    throw new UsageError(`--heap must be a size from 128MB to 1024GB, such as 512MB or 8GB, not ${value}.`);
  }
  return megabytes;
}

function readDays(value: string): number {
  const days = /^\d+$/.test(value) ? Number(value) : 0;
  if (days < 1 || days > 36_500) {
    throw new UsageError(`--keep-days must be a whole number from 1 to 36500, not ${value}.`);
  }
  return days;
}

/** Returns the value of the flag NAME as a number of seconds; without the flag, the value FALLBACK. Throws a UsageError
 * when it is not a valid number. */
function readSeconds(name: string, fallback: string, flags: ReadonlyMap<string, string>): number {
  const value = flags.get(name) ?? fallback;
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
    throw new UsageError(`--init must be an existing file; ${file} is not one.`);
  }
  return file;
}

function readReplay(flags: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv): string {
  const given = flags.get('replay') ?? (environment['LIVE_LISP_REPLAY'] || undefined);
  return readChoice('replay', ON_OFF, new Map(given === undefined ? [] : [['replay', given]]));
}

/** Returns the value of the flag NAME; without the flag, the first of CHOICES. Throws a UsageError when the value is
 * not one of CHOICES. */
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
