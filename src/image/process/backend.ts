// Builds the command lines that start SBCL with the backend, the Lisp side of live-lisp. Computes the path of the
// compiled backend in the cache.

import { createHash } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { basename, join } from 'node:path';
import { digestOf } from '../../files/digest.ts';
import { namesInFolder } from '../../leftovers.ts';
import { isOwnFile, makeOwnFolder } from '../../ownership.ts';
import type { ProcessCommand } from './command.ts';

export interface BackendOptions {
  lispFolder: string;
  cacheFolder: string;
  /** The root of the workspace, which is the working directory of SBCL. */
  root: string;
  heapMb: number;
  /** Folders in which ASDF searches for systems, with all their subfolders. If there are none, ASDF searches only the
   * folder `root` itself. */
  trees: string[];
  /** The folder in which ASDF writes all fasls. By default, the folder that the user has configured; in the sandbox, a
   * folder of the sandbox. */
  fasls?: string | undefined;
  /** What the backend must not use: names of internals of SBCL, and names of abilities. An ability is a feature of the
   * backend that needs internals. The macros define-internal and define-ability in the Lisp sources define these
   * names. */
  without?: readonly string[] | undefined;
}

/** The value of `without` that leaves out all abilities that need internals of SBCL. The backend then uses only
 * documented functions of SBCL. */
export const WITHOUT_EVERYTHING: readonly string[] = ['everything'];

/** Returns true when compiled files can be stored in FOLDER, which is created if necessary. Other users must not be
 * able to write there, because the files are executed. */
export function cacheUsable(folder: string): boolean {
  try {
    makeOwnFolder(folder);
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns true when the cache contains a backend that was compiled for some version of SBCL. Removes compiled backends
 * that another user can have written. */
export function isCompiled(options: BackendOptions): boolean {
  const prefix = `${basename(compiledBackend(options))}-`;
  const fasls = namesInFolder(options.cacheFolder)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.fasl'))
    .map((name) => join(options.cacheFolder, name));
  const others = fasls.filter((path) => !isOwnFile(path));
  for (const path of others) rmSync(path, { recursive: true, force: true });
  return fasls.length > others.length;
}

/** The digest of the backend's sources, in the bundled program; not defined when the program is not bundled. */
declare const BUNDLED_BACKEND: string | undefined;

/** Returns the digest of the backend's sources in FOLDER. The bundled program contains this digest, because reading all
 * files would take a tenth of its start time. */
export function backendDigest(folder: string): string {
  return typeof BUNDLED_BACKEND === 'string' ? BUNDLED_BACKEND : sourceDigest(folder);
}

/** Returns a digest of the names and contents of all Lisp files below FOLDER, including .asd files. */
export function sourceDigest(folder: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const name of files.filter((file) => /\.(?:lisp|asd)$/.test(file)).sort()) {
    hash.update(name).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

// These forms contain only plain function calls, which SBCL's EVAL evaluates without the compiler. This saves 5 ms of a
// start with the compiled backend.
const LOAD_CACHED =
  '(load (sb-ext:parse-native-namestring (concatenate (quote string) (sb-ext:posix-getenv "LIVE_LISP_FASL") ' +
  '"-" (lisp-implementation-version) ".fasl")))';
/** boot.lisp compiles the backend into the cache. It also loads the backend, unless LIVE_LISP_WORKERS is set. */
const LOAD_SOURCE = '(load (sb-ext:parse-native-namestring (sb-ext:posix-getenv "LIVE_LISP_BOOT")))';
/** A form that makes Linux kill SBCL when the server ends, even while the backend is being loaded. It calls
 * prctl(PR_SET_PDEATHSIG, SIGKILL). A backend in a core does this itself when it starts. */
const END_WITH_SERVER =
  '(progn #+linux (sb-alien:alien-funcall (sb-alien:extern-alien "prctl" (function sb-alien:int sb-alien:int sb-alien:unsigned-long)) 1 9))';
const RUN = '(funcall (find-symbol "MAIN" "LIVE-LISP.BACKEND"))';
const SAVE = '(funcall (find-symbol "SAVE" "LIVE-LISP.BACKEND"))';

/** Returns the command that runs the backend. If CACHED is true, the backend is loaded from the fasl in the cache,
 * which must exist. Otherwise boot.lisp compiles and loads it. */
export function backendCommand(sbcl: string, options: BackendOptions, cached: boolean): ProcessCommand {
  return command(sbcl, options, {
    forms: [cached ? LOAD_CACHED : LOAD_SOURCE, RUN],
    env: backendFiles(options),
  });
}

/** Returns the command that runs the backend from the file CORE. The variables of backendFiles are only for compiling
 * and loading the backend, so a core needs none of them. */
export function coreCommand(sbcl: string, options: BackendOptions, core: string): ProcessCommand {
  return command(sbcl, options, { core, forms: [RUN], env: {} });
}

/** The limit for the address space outside the heap is at least this number of megabytes. */
const LEAST_MEMORY_MB = 4096;

/** Returns the number of megabytes of address space that the image may use outside its heap: half of the machine's
 * memory or of the memory limit of this process, whichever is less, but at least LEAST_MEMORY_MB. */
function nonHeapMb(): number {
  // The result is 0 when no limit is known.
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const megabytes = Math.min(totalmem(), constrained) / 2 ** 20;
  return Math.max(LEAST_MEMORY_MB, Math.floor(megabytes / 2));
}

/** Maximum number of processes that compile the backend at the same time. Each needs 100 MB. With more processes, the
 * compilation would hardly be shorter, because one of them must compile the longest file anyway. */
const WORKER_LIMIT = 8;

/** Returns the command that compiles the backend into the cache. It uses one process for each CPU, but at most
 * WORKER_LIMIT. */
export function compilingCommand(sbcl: string, options: BackendOptions): ProcessCommand {
  const env = {
    ...backendFiles(options),
    LIVE_LISP_WORKERS: String(Math.min(WORKER_LIMIT, availableParallelism())),
  };
  return command(sbcl, options, { forms: [LOAD_SOURCE, '(exit)'], env });
}

/** Exit code by which the process of savingCommand reports that this SBCL can never save a core. */
export const CANNOT_SAVE = 3;

/** Returns the command that saves SBCL with the compiled backend as the file CORE. If SBCL is a script that starts the
 * real program, the command exits with CANNOT_SAVE, because the script could not start the core. */
export function savingCommand(sbcl: string, options: BackendOptions, core: string): ProcessCommand {
  const env = { ...backendFiles(options), LIVE_LISP_CORE: core, LIVE_LISP_PROGRAM: realpathSync(sbcl) };
  return command(sbcl, options, { forms: [LOAD_CACHED, SAVE], env });
}

/** SBCL's dynamic space is this many times the size of the heap. The copying collector needs space for the heap and for
 * its copy. The third part is for allocations by other threads while the collecting thread waits for a CPU. */
export const SPACE_PER_HEAP = 3;

function command(
  sbcl: string,
  options: BackendOptions,
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

/** Returns environment variables for the backend: the path of its source, the path of its fasl from `compiledBackend`,
 * the process id of the server (for the names of temporary files), and the abilities and internals that it must not
 * use. */
function backendFiles(options: BackendOptions): NodeJS.ProcessEnv {
  return {
    LIVE_LISP_BOOT: join(options.lispFolder, 'boot.lisp'),
    LIVE_LISP_FASL: compiledBackend(options),
    LIVE_LISP_SERVER: String(process.pid),
    LIVE_LISP_WITHOUT: (options.without ?? []).join(','),
  };
}

/** Returns the beginning of the path of the compiled backend. The backend appends the version of SBCL, which only SBCL
 * knows. The path also depends on the abilities and internals that the backend must not use. */
export function compiledBackend({
  cacheFolder,
  lispFolder,
  without = [],
}: Pick<BackendOptions, 'cacheFolder' | 'lispFolder' | 'without'>): string {
  const source = backendDigest(lispFolder);
  const identity =
    without.length === 0 ? source : digestOf(JSON.stringify([source, [...without].sort()])).slice(0, 16);
  return join(cacheFolder, `backend-${identity}`);
}

/** Returns a value for CL_SOURCE_REGISTRY, the environment variable that says where ASDF searches. The value begins
 * with TREES and all their subfolders. If TREES is empty, it begins with the folder ROOT, without its subfolders. The
 * folders in EXISTING, the user's own value, follow. The value has ASDF's string syntax if possible, else it is an
 * s-expression. */
export function sourceRegistry(
  { root, trees }: Pick<BackendOptions, 'root' | 'trees'>,
  existing: string | undefined,
): string {
  const userRegistry = existing ?? '';
  const folders = trees.length > 0 ? trees.map((tree) => `${tree}//`) : [root.replace(/\/*$/, '/')];
  const entries = folders.map(registryEntry).join(' ');
  if (userRegistry.trimStart().startsWith('(')) {
    return userRegistry.trimStart().replace(/^\(\s*:source-registry/i, () => `(:source-registry ${entries}`);
  }
  // In the string syntax, an empty entry stands for ASDF's other configuration (:inherit-configuration). An empty
  // userRegistry makes such an entry.
  if (!folders.some((folder) => /[:"\\;[*?]/.test(folder))) return [...folders, userRegistry].join(':');
  const others = userRegistry.split(':').filter((folder) => folder !== '');
  const inherits = userRegistry.split(':').includes('');
  const inheritance = inherits ? ':inherit-configuration' : ':ignore-inherited-configuration';
  return `(:source-registry ${[entries, ...others.map(registryEntry), inheritance].join(' ')})`;
}

/** Returns FOLDER as an s-expression for CL_SOURCE_REGISTRY. If FOLDER ends with two slashes, its subfolders are
 * included. */
function registryEntry(folder: string): string {
  return `(${folder.endsWith('//') ? ':tree' : ':directory'} ${folderString(folder.replace(/\/+$/, ''))})`;
}

/** Like lispPath, for a folder. */
function folderString(folder: string): string {
  return lispPath(`${folder}/`);
}

/** Returns the namestring of PATH as a Lisp string literal. In a namestring, a backslash escapes wildcards. In a string
 * literal, a backslash escapes backslashes and double quotes. */
export function lispPath(path: string): string {
  const namestring = path.replace(/[\\[*?]/g, '\\$&');
  return `"${namestring.replace(/[\\"]/g, '\\$&')}"`;
}

/** Returns a value for ASDF_OUTPUT_TRANSLATIONS with which all fasls are written below FOLDER. The user's configuration
 * then has no effect. */
export function outputTranslations(folder: string): string {
  return `(:output-translations (t (${folderString(folder)} :implementation)) :ignore-inherited-configuration)`;
}
