// Builds the command lines that start SBCL with the agent, and names the agent's fasl in the cache.

import { createHash } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { basename, join } from 'node:path';
import { digestOf } from '../../files/digest.ts';
import { namesInFolder } from '../../leftovers.ts';
import { isOwnFile, makeOwnFolder } from '../../own.ts';
import type { ProcessCommand } from './command.ts';

export interface AgentOptions {
  /** Folder of the agent's Lisp source. */
  lispFolder: string;
  /** Folder for compiled files. */
  cacheFolder: string;
  /** Workspace root, the working directory of SBCL. */
  root: string;
  /** Heap size in megabytes. */
  heapMb: number;
  /** Folders that ASDF searches for systems, with all their subfolders. When there are none, ASDF searches
   *  only the folder `root`. */
  trees: string[];
  /** Folder in which ASDF stores and finds all fasls. By default, this is the folder that the user has
   *  configured, or in the sandbox the folder that the sandbox has for fasls. */
  fasls?: string | undefined;
  /** Names of abilities that the agent must do without, and of internals of SBCL that it must not use, as in
   *  define-ability and define-internal in the Lisp source. */
  without?: readonly string[] | undefined;
}

/** Value of the option `without` that turns off all abilities of the agent that need internals of SBCL. The
 *  agent then uses only what SBCL documents. */
export const WITHOUT_EVERYTHING: readonly string[] = ['everything'];

/** True when compiled files can be kept in FOLDER, which is created if needed. No other user may be able to
 *  write in it, since the files in it are run. */
export function cacheUsable(folder: string): boolean {
  try {
    makeOwnFolder(folder);
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** True when the cache has a compiled agent for any version of SBCL. (Only SBCL knows its own version.)
 *  Removes compiled agents that another user can have written. */
export function isCompiled(options: AgentOptions): boolean {
  const prefix = `${basename(compiledAgent(options))}-`;
  const fasls = namesInFolder(options.cacheFolder)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.fasl'))
    .map((name) => join(options.cacheFolder, name));
  const others = fasls.filter((path) => !isOwnFile(path));
  for (const path of others) rmSync(path, { recursive: true, force: true });
  return fasls.length > others.length;
}

/** The result of sourceDigest at the time when the program was bundled; not defined when the sources run
 *  unbundled. */
declare const BUNDLED_AGENT: string | undefined;

/** Returns the digest of the agent's source in FOLDER. A bundled program contains this digest, because
 *  reading all files would take a tenth of the time that it needs to start. */
export function agentDigest(folder: string): string {
  return typeof BUNDLED_AGENT === 'string' ? BUNDLED_AGENT : sourceDigest(folder);
}

/** Returns a digest of the names and texts of all Lisp files, .asd included, in FOLDER and below. */
export function sourceDigest(folder: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const name of files.filter((file) => /\.(?:lisp|asd)$/.test(file)).sort()) {
    hash.update(name).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

// These forms contain only plain function calls, which SBCL's EVAL runs without the compiler. This makes a
// start with the compiled agent 5 ms faster.
const LOAD_CACHED =
  '(load (sb-ext:parse-native-namestring (concatenate (quote string) (sb-ext:posix-getenv "LIVE_LISP_FASL") ' +
  '"-" (lisp-implementation-version) ".fasl")))';
const LOAD_SOURCE = '(load (sb-ext:parse-native-namestring (sb-ext:posix-getenv "LIVE_LISP_BOOT")))';
/** A form that has Linux kill SBCL when the server ends, even while SBCL still loads the agent. An agent that
 *  is in a core does this itself, before anything else. Later, the agent itself notices the end of the
 *  server. */
const END_WITH_SERVER =
  '(progn #+linux (sb-alien:alien-funcall (sb-alien:extern-alien "prctl" (function sb-alien:int sb-alien:int sb-alien:unsigned-long)) 1 9))';
const RUN = '(funcall (find-symbol "MAIN" "LIVE-LISP.AGENT"))';
const SAVE = '(funcall (find-symbol "SAVE" "LIVE-LISP.AGENT"))';

/** Returns the command that runs the agent: from the fasl in the cache if CACHED (it must exist), else from
 *  source. */
export function agentCommand(sbcl: string, options: AgentOptions, cached: boolean): ProcessCommand {
  return command(sbcl, options, {
    forms: [cached ? LOAD_CACHED : LOAD_SOURCE, RUN],
    env: agentFiles(options),
  });
}

/** Returns the command that runs the agent from CORE, which contains it. */
export function coreCommand(sbcl: string, options: AgentOptions, core: string): ProcessCommand {
  return command(sbcl, options, { core, forms: [RUN], env: {} });
}

/** An image may always use this many megabytes of address space besides its heap. */
const LEAST_MEMORY_MB = 4096;

/** Returns how many megabytes of address space the image may use besides its heap: half of the machine's
 *  memory, or of the limit set for this process. */
function besidesHeapMb(): number {
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.max(LEAST_MEMORY_MB, Math.floor(Math.min(totalmem(), constrained) / 2 ** 21));
}

/** Maximum number of processes that compile the agent at the same time. Each takes 100 MB. More processes
 *  would gain little, since compiling the longest file takes as long with any number. */
const WORKERS = 8;

/** Returns the command that compiles the agent into the cache on all CPUs, and exits. */
export function compilingCommand(sbcl: string, options: AgentOptions): ProcessCommand {
  const env = {
    ...agentFiles(options),
    LIVE_LISP_WORKERS: String(Math.min(WORKERS, availableParallelism())),
  };
  return command(sbcl, options, { forms: [LOAD_SOURCE, '(exit)'], env });
}

/** Exit code of the process of savingCommand when this SBCL can never save a core. */
export const CANNOT_SAVE = 3;

/** Returns the command that saves SBCL with the compiled agent as the file CORE, and exits. When SBCL is only
 *  a script that starts the real program, a core for the script is useless. The command then saves nothing
 *  and exits with CANNOT_SAVE. */
export function savingCommand(sbcl: string, options: AgentOptions, core: string): ProcessCommand {
  const env = { ...agentFiles(options), LIVE_LISP_CORE: core, LIVE_LISP_PROGRAM: realpathSync(sbcl) };
  return command(sbcl, options, { forms: [LOAD_CACHED, SAVE], env });
}

/** SBCL gets this many times the heap size as its dynamic space. Its collector copies live data, so it needs
 *  room for the heap and a copy of it. The third part is for data that other threads allocate while the
 *  collecting thread waits for a CPU. The agent sees to it that live data fit into the heap size. */
export const SPACE_PER_HEAP = 3;

function command(
  sbcl: string,
  options: AgentOptions,
  { core, forms, env }: { core?: string; forms: string[]; env: NodeJS.ProcessEnv },
): ProcessCommand {
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
      ...(options.fasls !== undefined && { ASDF_OUTPUT_TRANSLATIONS: outputTranslations(options.fasls) }),
      ...env,
    },
  };
}

/** Returns the environment variables in which SBCL finds the agent's source, its fasl (without the SBCL
 *  version, which only SBCL knows), the process id of the server, and the abilities to leave out. */
function agentFiles(options: AgentOptions): NodeJS.ProcessEnv {
  return {
    LIVE_LISP_BOOT: join(options.lispFolder, 'boot.lisp'),
    LIVE_LISP_FASL: compiledAgent(options),
    LIVE_LISP_SERVER: String(process.pid),
    LIVE_LISP_WITHOUT: (options.without ?? []).join(','),
  };
}

/** Returns the path of the compiled agent up to the SBCL version, which only SBCL knows. An agent that does
 *  without some abilities has a path of its own. */
export function compiledAgent({
  cacheFolder,
  lispFolder,
  without = [],
}: Pick<AgentOptions, 'cacheFolder' | 'lispFolder' | 'without'>): string {
  const source = agentDigest(lispFolder);
  const identity =
    without.length === 0 ? source : digestOf(JSON.stringify([source, [...without].sort()])).slice(0, 16);
  return join(cacheFolder, `agent-${identity}`);
}

/** Returns the value of CL_SOURCE_REGISTRY, the environment variable in which ASDF finds the folders to
 *  search: first TREES with all their subfolders (or, if there are none, only the folder ROOT), then the
 *  user's EXISTING value. The value has ASDF's string syntax if this can express the folders, else the
 *  s-expression syntax. */
export function sourceRegistry(
  { root, trees }: Pick<AgentOptions, 'root' | 'trees'>,
  existing: string | undefined,
): string {
  const userRegistry = existing ?? '';
  const folders = trees.length > 0 ? trees.map((tree) => `${tree}//`) : [root.replace(/\/*$/, '/')];
  const entries = folders.map(registryEntry).join(' ');
  if (userRegistry.trimStart().startsWith('(')) {
    return userRegistry.trimStart().replace(/^\(\s*:source-registry/i, () => `(:source-registry ${entries}`);
  }
  if (!folders.some((folder) => /[:"\\;[*?]/.test(folder))) return [...folders, userRegistry].join(':');
  const others = userRegistry.split(':').filter((folder) => folder !== '');
  const inherits = userRegistry === '' || userRegistry.split(':').includes('');
  const inheritance = inherits ? ':inherit-configuration' : ':ignore-inherited-configuration';
  return `(:source-registry ${[entries, ...others.map(registryEntry), inheritance].join(' ')})`;
}

/** Returns the s-expression for FOLDER in CL_SOURCE_REGISTRY. A double slash at its end means that its
 *  subfolders are searched too. */
function registryEntry(folder: string): string {
  return `(${folder.endsWith('//') ? ':tree' : ':directory'} ${lispFolder(folder.replace(/\/+$/, ''))})`;
}

function lispFolder(folder: string): string {
  return lispPath(`${folder}/`);
}

/** Returns the namestring of PATH as a Lisp string literal. In a namestring, a backslash escapes wildcards.
 *  In a string literal, it escapes backslashes and double quotes. */
export function lispPath(path: string): string {
  const namestring = path.replace(/[\\[*?]/g, '\\$&');
  return `"${namestring.replace(/[\\"]/g, '\\$&')}"`;
}

/** Returns the value of ASDF_OUTPUT_TRANSLATIONS with which ASDF puts all fasls below FOLDER, whatever the
 *  user has configured. */
export function outputTranslations(folder: string): string {
  return `(:output-translations (t (${lispFolder(folder)} :implementation)) :ignore-inherited-configuration)`;
}
