// Decides how SBCL is started with the agent in it: command line, environment, and where its fasl is kept.

import { createHash } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { basename, join } from 'node:path';
import { namesIn } from '../../leftovers.ts';
import { isOwnFile, makeOwnFolder } from '../../own.ts';
import type { Command } from './command.ts';

export interface AgentOptions {
  /** The folder with the agent's Lisp source. */
  lispFolder: string;
  /** The folder for compiled files. */
  cacheFolder: string;
  /** The workspace root, where SBCL starts. */
  root: string;
  /** Megabytes of heap. */
  heapMb: number;
  /** The folders below which ASDF searches for systems; when there are none, it looks in the root alone. */
  trees: string[];
  /** The abilities and internals of SBCL that the agent does without, by name. The names are those of define-ability and
   *  define-internal in lisp/. */
  without?: readonly string[] | undefined;
}

/** Leaves out every ability: the agent uses only what SBCL documents. */
export const EVERYTHING: readonly string[] = ['everything'];

/** Returns whether compiled files can be kept in FOLDER, making it when needed: it must be this user's alone, since what is
 *  in it is run. */
export function cacheUsable(folder: string): boolean {
  try {
    makeOwnFolder(folder);
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether there is a compiled agent in the cache; for which version of SBCL, only that knows. One that somebody
 *  else can have written is removed. */
export function isCompiled(options: AgentOptions): boolean {
  const start = `${basename(compiledAgent(options))}-`;
  const fasls = namesIn(options.cacheFolder)
    .filter((name) => name.startsWith(start) && name.endsWith('.fasl'))
    .map((name) => join(options.cacheFolder, name));
  const others = fasls.filter((path) => !isOwnFile(path));
  for (const path of others) rmSync(path, { recursive: true, force: true });
  return fasls.length > others.length;
}

/** What sourceDigest returned when the program was bundled; a source that is run as it stands has none. */
declare const BUNDLED_AGENT: string | undefined;

/** Returns what identifies the agent's source in FOLDER. A bundled program knows it: to read all of that would be a
 *  tenth of its start. */
export function agentDigest(folder: string): string {
  return typeof BUNDLED_AGENT === 'string' ? BUNDLED_AGENT : sourceDigest(folder);
}

/** Returns a digest of the Lisp files in FOLDER and those below: any change of them gives another. */
export function sourceDigest(folder: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const name of files.filter((file) => file.endsWith('.lisp')).sort()) {
    hash.update(name).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

// Only plain calls, which SBCL's EVAL runs without the compiler: it makes the warm start 5 ms faster.
const LOAD_CACHED =
  '(load (sb-ext:parse-native-namestring (concatenate (quote string) (sb-ext:posix-getenv "LIVE_LISP_FASL") ' +
  '"-" (lisp-implementation-version) ".fasl")))';
const LOAD_SOURCE = '(load (sb-ext:parse-native-namestring (sb-ext:posix-getenv "LIVE_LISP_BOOT")))';
/** Has the system end this process with the server, before it loads anything. The agent does so first in a core, and
 *  notices that end by itself later. */
const END_WITH_SERVER =
  '(progn #+linux (sb-alien:alien-funcall (sb-alien:extern-alien "prctl" (function sb-alien:int sb-alien:int sb-alien:unsigned-long)) 1 9))';
const RUN = '(funcall (find-symbol "MAIN" "LIVE-LISP.AGENT"))';
const SAVE = '(funcall (find-symbol "SAVE" "LIVE-LISP.AGENT"))';

/** Returns how SBCL runs the agent: from the fasl in the cache when CACHED, which must be there, else from source. */
export function agentCommand(sbcl: string, options: AgentOptions, cached: boolean): Command {
  return command(sbcl, options, {
    forms: [cached ? LOAD_CACHED : LOAD_SOURCE, RUN],
    env: agentFiles(options),
  });
}

/** Returns how SBCL evaluates FORM in CORE, which has the agent in it. Without a form it runs the agent. */
export function coreCommand(sbcl: string, options: AgentOptions, core: string, form = RUN): Command {
  return command(sbcl, options, { core, forms: [form], env: {} });
}

/** Megabytes that the image gets in any case besides its heap. */
const LEAST_MEMORY_MB = 4096;

/** Returns the megabytes of address space that the image may use besides its heap. They are half of the machine's
 *  memory, or of what this process is held to. */
export function besidesHeapMb(): number {
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.max(LEAST_MEMORY_MB, Math.floor(Math.min(totalmem(), constrained) / 2 ** 21));
}

/** Processes that compile the agent at most: each holds 100 MB, and the longest file bounds what more of them gain. */
const WORKERS = 8;

/** Returns how SBCL compiles the agent into the cache and ends, on all CPUs. */
export function compilingCommand(sbcl: string, options: AgentOptions): Command {
  const env = {
    ...agentFiles(options),
    LIVE_LISP_WORKERS: String(Math.min(WORKERS, availableParallelism())),
  };
  return command(sbcl, options, { forms: [LOAD_SOURCE, '(exit)'], env });
}

/** The exit code that says that this SBCL can save no core, whenever it is asked. */
export const CANNOT_SAVE = 3;

/** Returns how SBCL puts itself with the compiled agent into the file CORE and ends. It makes none, and exits with
 *  CANNOT_SAVE, when SBCL only starts the program, which is what would have to be told of the core. */
export function savingCommand(sbcl: string, options: AgentOptions, core: string): Command {
  const env = { ...agentFiles(options), LIVE_LISP_CORE: core, LIVE_LISP_PROGRAM: realpathSync(sbcl) };
  return command(sbcl, options, { forms: [LOAD_CACHED, SAVE], env });
}

/** The collector copies what lives, so SBCL gets room for a heap and a copy of it. A third is for what threads make while
 *  the one that shall collect waits for a CPU. The agent keeps what lives to the heap. */
export const SPACE_PER_HEAP = 3;

function command(
  sbcl: string,
  options: AgentOptions,
  { core, forms, env }: { core?: string; forms: string[]; env: NodeJS.ProcessEnv },
): Command {
  return {
    program: sbcl,
    args: [
      ...(core === undefined ? [] : ['--core', core]),
      '--noinform',
      '--disable-ldb',
      '--dynamic-space-size',
      `${SPACE_PER_HEAP * options.heapMb}MB`,
      '--end-runtime-options',
      '--no-sysinit',
      '--no-userinit',
      '--disable-debugger',
      ...[...(core === undefined ? [END_WITH_SERVER] : []), ...forms].flatMap((form) => ['--eval', form]),
    ],
    env: {
      ...process.env,
      LIVE_LISP_MEMORY_MB: String(besidesHeapMb()),
      CL_SOURCE_REGISTRY: sourceRegistry(options, process.env['CL_SOURCE_REGISTRY']),
      ...env,
    },
  };
}

/** Returns the variables that tell SBCL where the agent's source is, what to leave out of it, and its fasl without the
 *  version of SBCL, which only that knows. */
function agentFiles(options: AgentOptions): NodeJS.ProcessEnv {
  return {
    LIVE_LISP_BOOT: join(options.lispFolder, 'boot.lisp'),
    LIVE_LISP_FASL: compiledAgent(options),
    LIVE_LISP_SERVER: String(process.pid),
    LIVE_LISP_WITHOUT: (options.without ?? []).join(','),
  };
}

/** Returns the name of the compiled agent without the version of SBCL, which only that knows. An agent that does without
 *  some abilities has a name of its own. */
export function compiledAgent({
  cacheFolder,
  lispFolder,
  without = [],
}: Pick<AgentOptions, 'cacheFolder' | 'lispFolder' | 'without'>): string {
  const source = agentDigest(lispFolder);
  const identity = without.length === 0 ? source : digestOf(JSON.stringify([source, [...without].sort()]));
  return join(cacheFolder, `agent-${identity}`);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Returns the value of CL_SOURCE_REGISTRY that puts TREES, or ROOT alone, before what the user has EXISTING. It is in
 *  the string syntax where that can name them, else in the s-expression syntax. */
export function sourceRegistry(
  { root, trees }: Pick<AgentOptions, 'root' | 'trees'>,
  existing: string | undefined,
): string {
  const users = existing ?? '';
  const folders = trees.length > 0 ? trees.map((tree) => `${tree}//`) : [root.replace(/\/*$/, '/')];
  const entries = folders.map(registryEntry).join(' ');
  if (users.trimStart().startsWith('(')) {
    return users.trimStart().replace(/^\(\s*:source-registry/i, () => `(:source-registry ${entries}`);
  }
  if (!folders.some((folder) => /[:"\\;[*?]/.test(folder))) return [...folders, users].join(':');
  const others = users.split(':').filter((folder) => folder !== '');
  const inherits = users === '' || users.split(':').includes('');
  const rest = inherits ? ':inherit-configuration' : ':ignore-inherited-configuration';
  return `(:source-registry ${[entries, ...others.map(registryEntry), rest].join(' ')})`;
}

/** Returns the s-expression for FOLDER, which ends with two slashes when it stands for all below it. */
function registryEntry(folder: string): string {
  return `(${folder.endsWith('//') ? ':tree' : ':directory'} ${lispFolder(folder.replace(/\/+$/, ''))})`;
}

/** Returns FOLDER as the Lisp string of its namestring. In a namestring, wild characters are quoted by a backslash;
 *  in a Lisp string, backslashes and quotes are. */
function lispFolder(folder: string): string {
  const namestring = folder.replace(/[\\[*?]/g, '\\$&');
  return `"${namestring.replace(/[\\"]/g, '\\$&')}/"`;
}

/** Returns the value of ASDF_OUTPUT_TRANSLATIONS that has all fasls put below FOLDER, whatever else is set up. */
export function outputTranslations(folder: string): string {
  return `(:output-translations (t (${lispFolder(folder)} :implementation)) :ignore-inherited-configuration)`;
}
