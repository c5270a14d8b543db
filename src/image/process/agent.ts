// Builds the command lines that start SBCL with the agent, and the path of the compiled agent in the cache.

import { createHash } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { basename, join } from 'node:path';
import { digestOf } from '../../files/digest.ts';
import { namesInFolder } from '../../leftovers.ts';
import { isOwnFile, makeOwnFolder } from '../../ownership.ts';
import type { ProcessCommand } from './command.ts';

export interface AgentOptions {
  lispFolder: string;
  cacheFolder: string;
  /** Workspace root, the working directory of SBCL. */
  root: string;
  heapMb: number;
  /** Folders that ASDF searches for systems, with all their subfolders. If empty, ASDF searches only the
   *  folder `root`. */
  trees: string[];
  /** Folder for all fasls of ASDF. By default the folder that the user has configured or, in the sandbox,
   *  that of the sandbox. */
  fasls?: string | undefined;
  /** Names of abilities that the agent must not use, and of internals of SBCL, as in define-ability and
   *  define-internal in the Lisp source. */
  without?: readonly string[] | undefined;
}

/** Value for `without` that turns off all abilities that need internals of SBCL. The agent then uses only
 *  documented functions of SBCL. */
export const WITHOUT_EVERYTHING: readonly string[] = ['everything'];

/** True when FOLDER, created if needed, can hold compiled files. No other user may have write access, because
 *  the files are run. */
export function cacheUsable(folder: string): boolean {
  try {
    makeOwnFolder(folder);
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** True when the cache has a compiled agent for any version of SBCL. Removes compiled agents that another
 *  user can have written. */
export function isCompiled(options: AgentOptions): boolean {
  const prefix = `${basename(compiledAgent(options))}-`;
  const fasls = namesInFolder(options.cacheFolder)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.fasl'))
    .map((name) => join(options.cacheFolder, name));
  const others = fasls.filter((path) => !isOwnFile(path));
  for (const path of others) rmSync(path, { recursive: true, force: true });
  return fasls.length > others.length;
}

/** The result of sourceDigest for the bundled program; not defined when the sources run unbundled. */
declare const BUNDLED_AGENT: string | undefined;

/** Returns the digest of the agent's source in FOLDER. A bundled program contains it, because reading all
 *  files would take a tenth of its start time. */
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

// SBCL's EVAL runs plain function calls without the compiler, so these forms contain nothing else. This saves
// 5 ms of a start with the compiled agent.
const LOAD_CACHED =
  '(load (sb-ext:parse-native-namestring (concatenate (quote string) (sb-ext:posix-getenv "LIVE_LISP_FASL") ' +
  '"-" (lisp-implementation-version) ".fasl")))';
const LOAD_SOURCE = '(load (sb-ext:parse-native-namestring (sb-ext:posix-getenv "LIVE_LISP_BOOT")))';
/** A form that makes Linux kill SBCL when the server ends, even during the load of the agent. In a core, the
 *  agent does this itself at its start. */
const END_WITH_SERVER =
  '(progn #+linux (sb-alien:alien-funcall (sb-alien:extern-alien "prctl" (function sb-alien:int sb-alien:int sb-alien:unsigned-long)) 1 9))';
const RUN = '(funcall (find-symbol "MAIN" "LIVE-LISP.AGENT"))';
const SAVE = '(funcall (find-symbol "SAVE" "LIVE-LISP.AGENT"))';

/** Returns the command that runs the agent from its source or, with CACHED, from the fasl in the cache, which
 *  must exist. */
export function agentCommand(sbcl: string, options: AgentOptions, cached: boolean): ProcessCommand {
  return command(sbcl, options, {
    forms: [cached ? LOAD_CACHED : LOAD_SOURCE, RUN],
    env: agentFiles(options),
  });
}

/** Returns the command that runs the agent from CORE. */
export function coreCommand(sbcl: string, options: AgentOptions, core: string): ProcessCommand {
  return command(sbcl, options, { core, forms: [RUN], env: {} });
}

/** Minimum number of megabytes of address space that an image may use besides its heap. */
const LEAST_MEMORY_MB = 4096;

/** Returns the number of megabytes of address space that the image may use besides its heap: half of the
 *  machine's memory, or of the limit for this process. */
function nonHeapMb(): number {
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.max(LEAST_MEMORY_MB, Math.floor(Math.min(totalmem(), constrained) / 2 ** 21));
}

/** Maximum number of processes that compile the agent at once, of 100 MB each. More would gain little,
 *  because the longest file alone takes as long. */
const WORKERS = 8;

/** Returns the command that compiles the agent into the cache, on all CPUs. */
export function compilingCommand(sbcl: string, options: AgentOptions): ProcessCommand {
  const env = {
    ...agentFiles(options),
    LIVE_LISP_WORKERS: String(Math.min(WORKERS, availableParallelism())),
  };
  return command(sbcl, options, { forms: [LOAD_SOURCE, '(exit)'], env });
}

/** Exit code of the process of savingCommand when this SBCL can never save a core. */
export const CANNOT_SAVE = 3;

/** Returns the command that saves SBCL with the compiled agent as the file CORE. If SBCL is a script that
 *  starts the real program, a core would be useless for it, so the command exits with CANNOT_SAVE. */
export function savingCommand(sbcl: string, options: AgentOptions, core: string): ProcessCommand {
  const env = { ...agentFiles(options), LIVE_LISP_CORE: core, LIVE_LISP_PROGRAM: realpathSync(sbcl) };
  return command(sbcl, options, { forms: [LOAD_CACHED, SAVE], env });
}

/** Ratio of SBCL's dynamic space to the heap size. The copying collector needs room for the heap and its
 *  copy. The third part is for allocations by other threads while the collecting thread waits for a CPU. */
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
      LIVE_LISP_MEMORY_MB: String(nonHeapMb()),
      CL_SOURCE_REGISTRY: sourceRegistry(options, process.env['CL_SOURCE_REGISTRY']),
      ...(options.fasls !== undefined && { ASDF_OUTPUT_TRANSLATIONS: outputTranslations(options.fasls) }),
      ...env,
    },
  };
}

/** Returns environment variables for the agent: the path of its source, of its fasl up to the SBCL version,
 *  the process id of the server, and the abilities to leave out. */
function agentFiles(options: AgentOptions): NodeJS.ProcessEnv {
  return {
    LIVE_LISP_BOOT: join(options.lispFolder, 'boot.lisp'),
    LIVE_LISP_FASL: compiledAgent(options),
    LIVE_LISP_SERVER: String(process.pid),
    LIVE_LISP_WITHOUT: (options.without ?? []).join(','),
  };
}

/** Returns the path of the compiled agent up to the SBCL version, which only SBCL knows. The path depends on
 *  the abilities to leave out. */
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

/** Returns the value of CL_SOURCE_REGISTRY, ASDF's environment variable for the folders to search. These are
 *  TREES with all subfolders (only the folder ROOT if TREES is empty), then those of the user's EXISTING
 *  value. Uses ASDF's string syntax if possible, else the s-expression syntax. */
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

/** Returns the s-expression for FOLDER in CL_SOURCE_REGISTRY. A double slash at the end of FOLDER includes
 *  its subfolders. */
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

/** Returns a value of ASDF_OUTPUT_TRANSLATIONS for all fasls below FOLDER, which overrides the user's
 *  configuration. */
export function outputTranslations(folder: string): string {
  return `(:output-translations (t (${lispFolder(folder)} :implementation)) :ignore-inherited-configuration)`;
}
