// Lists the flags, and splits a command line into flags and operands.

import type { CommandName } from './command-names.ts';
import { UsageError } from './errors.ts';

interface Flag {
  name: string;
  /** The placeholder in help texts for the flag's value; absent for a flag without a value. */
  value?: string;
  help: string;
}

/** The help text of each flag. The key is the name of the flag and a placeholder for its value. */
const FLAG_HELP = {
  'root DIR': 'the workspace (default: the current directory); can be given several times',
  'read-root DIR': 'another directory whose files can be read; can be given several times',
  'sbcl PATH': 'the SBCL to start; also LIVE_LISP_SBCL; default: sbcl on PATH, or one from a package manager',
  'heap SIZE': 'heap of the image, such as 512MB or 8GB (default 4GB)',
  'image WHICH':
    "auto (default): the image that serves this workspace, or else a new image of this server; own: always a new image of this server; NAME: the serving image of that name; swank://127.0.0.1:4005 or slynk://127.0.0.1:4005: the image behind that port; NAME=COMMAND, such as build='ssh -T build sbcl': an image that COMMAND starts elsewhere; can be given several times: calls then choose one with parameter 'image'",
  'map NAME:LOCAL=REMOTE':
    'with --image NAME=COMMAND: the local folder LOCAL is called REMOTE where the image runs; can be given several times',
  'sandbox HOW':
    'auto (default): run images in a sandbox if bubblewrap works; on: start no image without one; strict: as on, without network and with private temporary files',
  'no-sandbox': 'run images without a sandbox: code in them can do all that you can',
  'write DIR': 'another directory that code in the sandbox can change; can be given several times',
  'eval-timeout SECONDS': 'limit of one evaluation (default 30)',
  'hold SECONDS':
    'how long an error stays held without a use of debug (default 60); then the failed call ends',
  'init FILE': 'a Lisp file to load into every new image',
  'libraries MANAGER':
    'auto (default): load Quicklisp, qlot or ocicl when first needed, whichever is set up; none: load none; or the name of one of them',
  'tool-names STYLE':
    'snake (default): list apropos_search and who_calls; contract: list apropos-search and who-calls',
  'list MODE':
    'what tools/list shows: full (default), lightweight, summary or search; every tool can be called in each mode',
  'ask LEVEL':
    'ask the user before a tool of this safety level or above runs: dangerous (default) or cautious',
  'allow TOOL[:GLOB]':
    'run this tool without asking; with GLOB only for files that match it; can be given several times',
  'answer-time SECONDS': 'how long the user has to answer a question (default 600)',
  'audit FILE': 'the audit log (default: a file below the user state directory)',
  'replay WHEN':
    'on (default): rebuild a lost image from a journal; off: keep no journal; also LIVE_LISP_REPLAY',
  'history WHEN': 'on (default): keep evaluations for get_repl_history on disk; off: only in memory',
  'audit-texts WHEN': 'on (default): keep arguments in the audit log; off: only their digests',
  'keep-days DAYS': 'how long records are kept at most (default 90)',
  'http [HOST:]PORT':
    'serve MCP over HTTP at this port instead of on stdin and stdout; without HOST, to this machine only',
  'http-token FILE':
    'a file with the token that clients of --http send; also LIVE_LISP_HTTP_TOKEN; default: a file made at the first start, whose name is printed',
  page: "serve the session's page from the start; live-lisp page prints a link to it",
  'client NAME': 'the client for install, uninstall or doctor',
  'scope WHERE':
    'with install and uninstall: user (default): for all projects; project: for this folder only',
  trust: 'with install: let the client run code without asking, but only in a sandbox',
  'dry-run': 'with install and uninstall: only show what would be done',
  help: 'show this text',
  version: 'show the version',
};

export const FLAGS: readonly Flag[] = Object.entries(FLAG_HELP).map(([flag, help]) => {
  const [name = '', value] = flag.split(' ');
  return { name, value, help };
});

/** Returns the flags in ARGV with their values, and the other words as `operands`. Throws a UsageError when a flag is
 * unknown. */
export function splitArguments(argv: readonly string[]): {
  flags: Map<string, string[]>;
  operands: string[];
} {
  const flags = new Map<string, string[]>();
  const operands: string[] = [];
  const words = [...argv];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--') {
      operands.push(...words.splice(0));
      continue;
    }
    if (!/^-./.test(word)) {
      operands.push(word);
      continue;
    }
    if (!word.startsWith('--')) throw unknownFlag(word);
    const [name = '', attached] = word.slice(2).split(/=(.*)/s);
    const flag = FLAGS.find((each) => each.name === name);
    if (flag === undefined) throw unknownFlag(`--${name}`);
    if (flag.value === undefined && attached !== undefined) {
      throw new UsageError(`The flag --${name} takes no value.`);
    }
    const value = flag.value === undefined ? '' : (attached ?? words.shift());
    if (value === undefined || (flag.value !== undefined && value === '')) {
      throw new UsageError(`The flag --${name} needs a value: --${name} ${flag.value}.`);
    }
    flags.set(name, [...(flags.get(name) ?? []), value]);
  }
  return { flags, operands };
}

/** Maps a flag to the commands that accept it. All commands except install and uninstall accept a flag that is not
 * listed here. */
const FLAG_COMMANDS: { readonly [flag: string]: readonly CommandName[] } = {
  // An agent can write command lines of the other commands, so they must not be able to approve anything.
  allow: ['serve', 'doctor', 'tools'],
  http: ['serve'],
  'http-token': ['serve'],
  page: ['serve', 'session'],
  client: ['install', 'uninstall', 'doctor'],
  scope: ['install', 'uninstall'],
  trust: ['install'],
  'dry-run': ['install', 'uninstall'],
};

/** Throws a UsageError when COMMAND does not accept one of the flags NAMES. */
export function checkFlags(command: CommandName, names: readonly string[]): void {
  if (names.includes('help') || names.includes('version')) return;
  const changesClient = command === 'install' || command === 'uninstall';
  for (const name of names) {
    const commands = FLAG_COMMANDS[name];
    if (commands === undefined && changesClient) {
      throw new UsageError(
        `The command ${command} takes no --${name}. Add it after live-lisp.js in the client's configuration; a later install keeps it there.`,
      );
    }
    if (commands?.includes(command) === false) {
      throw new UsageError(`The flag --${name} is for ${commands.join(' and ')}, not for ${command}.`);
    }
  }
}

function unknownFlag(flag: string): UsageError {
  return new UsageError(
    `Unknown flag ${flag}; see live-lisp --help. Put the options of a command after its name.`,
  );
}
