// Decides how SBCL is started with the agent in it: command line, environment, and where its fasl is kept.

import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { homeFolder } from '../../paths.ts';
import type { Command } from './command.ts';

export interface AgentOptions {
  /** The folder with the agent's Lisp source. */
  lispFolder: string;
  /** The folder for compiled files. */
  cacheFolder: string;
  /** The workspace root, where ASDF looks for systems too. */
  root: string;
  /** Megabytes of heap. */
  heapMb: number;
  /** Whether ASDF searches the whole tree below the root. */
  searchTree: boolean;
}

/** Returns the folder for compiled files that ENVIRONMENT means. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment['XDG_CACHE_HOME'];
  if (base !== undefined && isAbsolute(base)) return join(base, 'live-lisp');
  return join(homeFolder() ?? tmpdir(), '.cache', 'live-lisp');
}

/** Returns whether compiled files can be kept in FOLDER, making it when needed. */
export function cacheUsable(folder: string): boolean {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Makes FOLDER with its parents. Not by `recursive`, which never returns where the system says ENOENT for
 *  a folder whose parent exists, as below /proc. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  mkdirSync(folder);
}

/** Returns what identifies the agent's source in FOLDER and those below: any change of it gives another. */
function sourceDigest(folder: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const name of files.filter((file) => file.endsWith('.lisp')).sort()) {
    hash.update(name).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex').slice(0, 16);
}

// Only plain calls, which SBCL's EVAL runs without the compiler: it makes the warm start 5 ms faster.
const LOAD_CACHED =
  '(if (load (sb-ext:parse-native-namestring (concatenate (quote string) (sb-ext:posix-getenv "LIVE_LISP_FASL") ' +
  '"-" (lisp-implementation-version) ".fasl")) :if-does-not-exist nil) t ' +
  '(load (sb-ext:parse-native-namestring (sb-ext:posix-getenv "LIVE_LISP_BOOT"))))';
const LOAD_SOURCE = '(load (sb-ext:parse-native-namestring (sb-ext:posix-getenv "LIVE_LISP_BOOT")))';
const RUN = '(funcall (find-symbol "MAIN" "LIVE-LISP.AGENT"))';

/** Returns how SBCL runs the agent. CACHED says whether a fasl from the cache may be used. */
export function agentCommand(sbcl: string, options: AgentOptions, cached: boolean): Command {
  return command(sbcl, options, [cached ? LOAD_CACHED : LOAD_SOURCE, RUN]);
}

/** Megabytes that the image gets in any case besides its heap. */
const LEAST_MEMORY_MB = 4096;

/** Returns the megabytes of address space that the image may use besides its heap. They are half of the machine's
 *  memory, or of what this process is held to. */
export function besidesHeapMb(): number {
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.max(LEAST_MEMORY_MB, Math.floor(Math.min(totalmem(), constrained) / 2 ** 21));
}

/** Returns how SBCL compiles the agent into the cache and ends; undefined when there is a fasl of it, of whatever
 *  version of SBCL. */
export function compilingCommand(sbcl: string, options: AgentOptions): Command | undefined {
  const prefix = `${basename(fasl(options))}-`;
  const there = readdirSync(options.cacheFolder).some(
    (name) => name.startsWith(prefix) && name.endsWith('.fasl'),
  );
  return there ? undefined : command(sbcl, options, [LOAD_SOURCE, '(exit)']);
}

function command(sbcl: string, options: AgentOptions, forms: string[]): Command {
  return {
    program: sbcl,
    args: [
      '--noinform',
      '--disable-ldb',
      '--dynamic-space-size',
      `${options.heapMb}MB`,
      '--end-runtime-options',
      '--no-sysinit',
      '--no-userinit',
      '--disable-debugger',
      ...forms.flatMap((form) => ['--eval', form]),
    ],
    env: {
      ...process.env,
      LIVE_LISP_MEMORY_MB: String(besidesHeapMb()),
      LIVE_LISP_BOOT: join(options.lispFolder, 'boot.lisp'),
      LIVE_LISP_FASL: fasl(options),
      CL_SOURCE_REGISTRY: sourceRegistry(options.root, options.searchTree, process.env['CL_SOURCE_REGISTRY']),
    },
  };
}

/** Returns the name of the compiled agent without the version of SBCL, which only that knows. */
function fasl({ cacheFolder, lispFolder }: AgentOptions): string {
  return join(cacheFolder, `agent-${sourceDigest(lispFolder)}`);
}

/** Returns the value of CL_SOURCE_REGISTRY that puts ROOT before what the user has EXISTING. It is in the string
 *  syntax where that can name ROOT, else in the s-expression syntax. */
export function sourceRegistry(root: string, tree: boolean, existing: string | undefined): string {
  const users = existing ?? '';
  const entry = registryEntry(root, tree);
  if (users.trimStart().startsWith('(')) {
    return users.trimStart().replace(/^\(\s*:source-registry/i, () => `(:source-registry ${entry}`);
  }
  if (!/[:"\\;[*?]/.test(root)) return `${root}${tree ? '//' : '/'}:${users}`;
  const folders = users.split(':').filter((folder) => folder !== '');
  const entries = folders.map((folder) => registryEntry(folder.replace(/\/+$/, ''), folder.endsWith('//')));
  const inherits = users === '' || users.split(':').includes('');
  const rest = inherits ? ':inherit-configuration' : ':ignore-inherited-configuration';
  return `(:source-registry ${[entry, ...entries, rest].join(' ')})`;
}

function registryEntry(folder: string, tree: boolean): string {
  return `(${tree ? ':tree' : ':directory'} ${lispFolder(folder)})`;
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
