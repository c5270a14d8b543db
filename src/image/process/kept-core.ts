// Saves a core with the agent into the cache, and starts images from this core.

import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { realpathSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkAnswering } from '../../files/answering.ts';
import { digestOf } from '../../files/digest.ts';
import { namesInFolder, removeLeftovers } from '../../leftovers.ts';
import { isOwn } from '../../ownership.ts';
import {
  type AgentOptions,
  agentCommand,
  agentDigest,
  CANNOT_SAVE,
  compiledAgent,
  coreCommand,
  savingCommand,
} from './agent.ts';
import { type CommandSandbox, type ProcessCommand, runCommand } from './command.ts';

/** Minimum heap size of a core, in megabytes: the default size. Images with a smaller heap use the same core.
 *  For a larger heap than its own, SBCL patches all code of the core at each start, which takes 40 ms and 17
 *  MB. */
const LEAST_HEAP_MB = 4096;
/** Maximum number of cores, of 40 MB each. Several allow versions of SBCL and live-lisp side by side. */
const MAX_CORES = 3;
/** Content of a file in place of a core for an SBCL that cannot save one. It is not empty, because a crash of
 *  the machine can leave an empty file. */
const NONE = 'none\n';
const CORE = /^image-[0-9a-f]+\.core$/;
const CACHE_FILE = /^(?:agent-[0-9a-f]{16}-.+\.fasl|image-[0-9a-f]{16}\.core)(?:\.(?<part>.+))?$/;

export class KeptCore {
  readonly #options: AgentOptions;
  readonly #sandbox: CommandSandbox | undefined;
  readonly #limitMs: number;
  #savingProcess: ChildProcess | undefined;
  #partial: string | undefined;
  #closed = false;

  /** Manages the core for images with OPTIONS, in SANDBOX if given. Each process that makes or tries the core
   *  may run for LIMIT_MS milliseconds. */
  constructor(options: AgentOptions, sandbox: CommandSandbox | undefined, limitMs: number) {
    this.#options = options;
    this.#sandbox = sandbox;
    this.#limitMs = limitMs;
  }

  /** Returns the command with which the program SBCL starts an image from the core; undefined when there is
   *  no core. */
  command(sbcl: string): ProcessCommand | undefined {
    const file = coreFile(sbcl, this.#options);
    return file !== undefined && isCore(file) ? coreCommand(sbcl, this.#options, file) : undefined;
  }

  /** Makes a core for the program SBCL from the compiled agent, after an image has started with that agent.
   *  Does nothing if there is a core, except with FAILED: no image could start from that core, so a new core
   *  replaces it. Never throws, because a missing core only makes a start slower. */
  async make(sbcl: string, failed: boolean): Promise<void> {
    const file = coreFile(sbcl, this.#options);
    if (this.#closed || this.#partial !== undefined || file === undefined) return;
    const existing = statsOf(file);
    if (!failed && existing?.size && isOwn(existing)) return;
    const partial = `${file}.${process.pid}.${randomUUID().slice(0, 8)}`;
    this.#partial = partial;
    try {
      const works = await this.#works(sbcl, partial);
      await checkAnswering([dirname(file)]);
      if (works === false) writeFileSync(partial, NONE, { mode: 0o600 });
      if (works !== undefined && !this.#closed) renameSync(partial, file);
      removeOldest(file);
      const current = [`${basename(compiledAgent(this.#options))}-`, basename(file)];
      removeLeftovers(dirname(file), CACHE_FILE, current);
    } catch {}
    this.#removePartial();
  }

  /** Kills the process that makes a core, if any, and makes no more cores. */
  close(): void {
    this.#closed = true;
    this.#savingProcess?.kill('SIGKILL');
    this.#removePartial();
  }

  #removePartial(): void {
    if (this.#partial !== undefined) rmSync(this.#partial, { force: true });
    this.#partial = undefined;
  }

  /** Saves a core for SBCL as the file PARTIAL, and starts an image from it once. Returns whether the core
   *  works; undefined when a failure can be temporary, as by a lack of memory. */
  async #works(sbcl: string, partial: string): Promise<boolean | undefined> {
    const saving = savingCommand(
      sbcl,
      { ...this.#options, heapMb: coreHeapMb(this.#options.heapMb) },
      partial,
    );
    const saveCode = await this.#run((await this.#sandbox?.lockInCompiler(saving)) ?? saving);
    if (saveCode === CANNOT_SAVE) return false;
    if (saveCode !== 0 || !isCore(partial)) return undefined;
    const startCode = await this.#start(coreCommand(sbcl, this.#options, partial));
    if (startCode === 0) return true;
    // The core is at fault only if an image now starts without it.
    const agentCode = startCode && (await this.#start(agentCommand(sbcl, this.#options, true)));
    return agentCode === 0 ? false : undefined;
  }

  /** Starts an image by COMMAND and returns its exit code. The image greets, and then ends because no server
   *  is connected. */
  async #start(command: ProcessCommand): Promise<number | undefined> {
    return this.#run((await this.#sandbox?.lockIn(command)) ?? command);
  }

  async #run(command: ProcessCommand): Promise<number | undefined> {
    if (this.#closed) return undefined;
    const { process: child, code } = runCommand(command, this.#limitMs);
    this.#savingProcess = child;
    return code;
  }
}

/** Returns the path in the cache for the core of SBCL with OPTIONS. The file name depends on the program, the
 *  agent's source and the heap size. Returns undefined without such an SBCL, and for an agent without some
 *  abilities, because saving a core is one more step that can fail. */
export function coreFile(
  sbcl: string,
  options: Pick<AgentOptions, 'cacheFolder' | 'heapMb' | 'lispFolder' | 'without'>,
): string | undefined {
  if (options.without !== undefined && options.without.length > 0) return undefined;
  try {
    const program = realpathSync(sbcl);
    const { size, mtimeMs } = statSync(program);
    const { SBCL_HOME, SBCL_CORE } = process.env;
    const digest = agentDigest(options.lispFolder);
    const identity = [digest, program, size, mtimeMs, SBCL_HOME, SBCL_CORE, coreHeapMb(options.heapMb)];
    const name = digestOf(JSON.stringify(identity)).slice(0, 16);
    return join(options.cacheFolder, `image-${name}.core`);
  } catch {
    return undefined;
  }
}

/** Returns the heap size, in megabytes, with which to save the core for images with HEAP_MB megabytes of
 *  heap: the next power of two, so that images with similar heaps share a core. */
function coreHeapMb(heapMb: number): number {
  return Math.max(LEAST_HEAP_MB, 2 ** Math.ceil(Math.log2(heapMb)));
}

/** True when FILE is a core that only this user can have written. The code of a core is run, so no other core
 *  is safe. */
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

/** Removes the least recently used cores in the folder of FILE. MAX_CORES remain, FILE included. */
function removeOldest(file: string): void {
  const folder = dirname(file);
  const cores = namesInFolder(folder)
    .filter((name) => CORE.test(name))
    .map((name) => ({ path: join(folder, name), stats: statsOf(join(folder, name)) }))
    // A file that marks an impossible core is small, so it does not count.
    .filter(({ path, stats }) => path !== file && stats !== undefined && stats.size > NONE.length)
    .sort((one, other) => Number(other.stats?.atimeMs) - Number(one.stats?.atimeMs));
  for (const { path } of cores.slice(MAX_CORES - 1)) rmSync(path, { force: true });
}
