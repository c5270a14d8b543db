// Saves a core with the backend in the cache, and starts images from this core.

import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { realpathSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkAnswering } from '../../files/answering.ts';
import { digestOf } from '../../files/digest.ts';
import { namesInFolder, removeLeftovers } from '../../leftovers.ts';
import { isOwn } from '../../ownership.ts';
import {
  type BackendOptions,
  backendCommand,
  backendDigest,
  CANNOT_SAVE,
  compiledBackend,
  coreCommand,
  savingCommand,
} from './backend.ts';
import { type CommandSandbox, type ProcessCommand, runCommand } from './command.ts';

/** A core is made for at least this heap size, in megabytes, so that images with smaller heaps use the same core. If an
 * image has a larger heap than its core was made for, SBCL patches all code of the core at each start, which takes
 * 40 ms and 17 MB. */
const LEAST_HEAP_MB = 4096;
/** Maximum number of cores in the cache. Each has 40 MB. There are several, for different versions of SBCL and
 * live-lisp. */
const MAX_CORES = 3;
/** The content of the file that takes the place of the core when SBCL cannot save one. It is not empty, because a crash
 * of the machine can leave an empty file. */
const NONE = 'none\n';
const CORE = /^image-[0-9a-f]+\.core$/;
/** Matches the files of compiled backends for images that somebody else runs (attached), and for those that the
 * command of --image starts (command). */
const FAR_BACKEND = /^(?:attached|command)-.+\.fasl$/;
const CACHE_FILE = /^(?:backend-[0-9a-f]{16}-.+\.fasl|image-[0-9a-f]{16}\.core)(?:\.(?<part>.+))?$/;

export class KeptCore {
  readonly #options: BackendOptions;
  readonly #sandbox: CommandSandbox | undefined;
  readonly #limitMs: number;
  /** The last process that was started to make or try the core. */
  #process: ChildProcess | undefined;
  /** The file of the core that is being made, under its preliminary name. */
  #partial: string | undefined;
  #closed = false;

  /** Manages the core for images with OPTIONS, which run in SANDBOX if it is given. LIMIT_MS is the maximum number of
   * milliseconds of each process that makes or tries the core. */
  constructor(options: BackendOptions, sandbox: CommandSandbox | undefined, limitMs: number) {
    this.#options = options;
    this.#sandbox = sandbox;
    this.#limitMs = limitMs;
  }

  /** Returns the command with which SBCL, the path of a program, starts an image from the core. Returns undefined when
   * there is no core. */
  command(sbcl: string): ProcessCommand | undefined {
    const file = coreFile(sbcl, this.#options);
    return file !== undefined && isCore(file) ? coreCommand(sbcl, this.#options, file) : undefined;
  }

  /** Makes a core for SBCL, the path of a program. Called after an image has started with the compiled backend. Does
   * nothing when there is a core already, or a file that says that SBCL cannot save one. But if FAILED is true, no
   * image could start from that core, so a new one replaces it. Never throws, because without a core a start only takes
   * longer. */
  async make(sbcl: string, failed: boolean): Promise<void> {
    const file = coreFile(sbcl, this.#options);
    if (this.#closed || this.#partial !== undefined || file === undefined) return;
    const existing = statsOf(file);
    const isSettled = existing !== undefined && existing.size > 0 && isOwn(existing);
    if (isSettled && !failed) return;
    const partial = `${file}.${process.pid}.${randomUUID().slice(0, 8)}`;
    this.#partial = partial;
    try {
      const result = await this.#tryMaking(sbcl, partial);
      await checkAnswering([dirname(file)]);
      if (result === 'no core works') writeFileSync(partial, NONE, { mode: 0o600 });
      if (result !== 'unknown' && !this.#closed) renameSync(partial, file);
      removeOldest(file);
      // Beginnings of names, not whole names.
      const current = [`${basename(compiledBackend(this.#options))}-`, basename(file)];
      removeLeftovers(dirname(file), CACHE_FILE, current);
      removeLeftovers(join(dirname(file), 'backends'), FAR_BACKEND, []);
    } catch {}
    this.#removePartial();
  }

  /** Kills the process that is making a core, if there is one. Makes no cores after this. */
  close(): void {
    this.#closed = true;
    this.#process?.kill('SIGKILL');
    this.#removePartial();
  }

  #removePartial(): void {
    if (this.#partial !== undefined) rmSync(this.#partial, { force: true });
    this.#partial = undefined;
  }

  /** Saves a core for SBCL as the file PARTIAL, and starts an image from it once. Resolves with 'unknown' when this
   * failed but may work later, for example after a lack of memory. */
  async #tryMaking(sbcl: string, partial: string): Promise<'works' | 'no core works' | 'unknown'> {
    const saving = savingCommand(
      sbcl,
      { ...this.#options, heapMb: coreHeapMb(this.#options.heapMb) },
      partial,
    );
    const saveCode = await this.#run((await this.#sandbox?.lockInCompiler(saving)) ?? saving);
    if (saveCode === CANNOT_SAVE) return 'no core works';
    if (saveCode !== 0 || !isCore(partial)) return 'unknown';
    const startCode = await this.#start(coreCommand(sbcl, this.#options, partial));
    if (startCode === 0) return 'works';
    // For example, the time was up. That says nothing about the core.
    if (startCode === undefined) return 'unknown';
    // The core is at fault only if an image without it starts now.
    const backendCode = await this.#start(backendCommand(sbcl, this.#options, true));
    return backendCode === 0 ? 'no core works' : 'unknown';
  }

  /** Starts an image by COMMAND, and resolves with its exit code. The image sends its greeting, and ends because no
   * server is connected. */
  async #start(command: ProcessCommand): Promise<number | undefined> {
    return this.#run((await this.#sandbox?.lockIn(command)) ?? command);
  }

  async #run(command: ProcessCommand): Promise<number | undefined> {
    if (this.#closed) return undefined;
    const { process: child, code } = runCommand(command, this.#limitMs);
    this.#process = child;
    return code;
  }
}

/** Returns the path in the cache of the core of SBCL for OPTIONS. The name of the file depends on the program, the
 * sources of the backend and the heap size. Returns undefined when SBCL does not exist. Returns undefined also when
 * OPTIONS leave out abilities of the backend, because to save a core is one more step that can fail. */
export function coreFile(
  sbcl: string,
  options: Pick<BackendOptions, 'cacheFolder' | 'heapMb' | 'lispFolder' | 'without'>,
): string | undefined {
  if (options.without !== undefined && options.without.length > 0) return undefined;
  try {
    const program = realpathSync(sbcl);
    const { size, mtimeMs } = statSync(program);
    const { SBCL_HOME, SBCL_CORE } = process.env;
    const digest = backendDigest(options.lispFolder);
    const identity = [digest, program, size, mtimeMs, SBCL_HOME, SBCL_CORE, coreHeapMb(options.heapMb)];
    const name = digestOf(JSON.stringify(identity)).slice(0, 16);
    return join(options.cacheFolder, `image-${name}.core`);
  } catch {
    return undefined;
  }
}

/** Returns the heap size, in megabytes, with which the core for images with HEAP_MB megabytes of heap is saved. It is
 * the next power of two, so that images with similar heaps share a core. */
function coreHeapMb(heapMb: number): number {
  return Math.max(LEAST_HEAP_MB, 2 ** Math.ceil(Math.log2(heapMb)));
}

/** Returns true when FILE is a core that only this user can have written. The code in a core is executed. */
function isCore(file: string): boolean {
  const found = statsOf(file);
  return found?.isFile() === true && found.size > NONE.length && isOwn(found);
}

function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

/** Removes the least recently used cores in the folder of FILE. FILE stays, and at most MAX_CORES cores in all. */
function removeOldest(file: string): void {
  const folder = dirname(file);
  const cores = namesInFolder(folder)
    .filter((name) => CORE.test(name))
    .map((name) => ({ path: join(folder, name), stats: statsOf(join(folder, name)) }))
    // A file that marks that no core can be saved is small, and is not counted.
    .filter(({ path, stats }) => path !== file && stats !== undefined && stats.size > NONE.length)
    .sort((one, other) => Number(other.stats?.atimeMs) - Number(one.stats?.atimeMs));
  for (const { path } of cores.slice(MAX_CORES - 1)) rmSync(path, { force: true });
}
