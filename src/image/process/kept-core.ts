// Decides which images start from a core that has the agent in it, and how such a core is made and kept.

import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, realpathSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AgentOptions, coreCommand, savingCommand, sourceDigest } from './agent.ts';
import { type Cell, type Command, run } from './command.ts';

/** Megabytes of heap that a core is made for at least, so that smaller heaps share it: the default. SBCL patches all code
 *  of a core at each start with more than it was made for, which takes 40 ms and 17 MB. */
const LEAST_HEAP_MB = 4096;
/** Cores that are kept, of 40 MB each: for some versions of SBCL and live-lisp side by side. */
const KEPT = 3;
/** What a file has that says there can be no core. An empty one is what a crash of the machine can leave. */
const NONE = 'none\n';
const NAME = /^image-[0-9a-f]+\.core$/;

export class KeptCore {
  readonly #options: AgentOptions;
  readonly #cell: Cell | undefined;
  readonly #limitMs: number;
  #maker: ChildProcess | undefined;
  #partial: string | undefined;
  #closed = false;

  /** A core for images with OPTIONS, which are locked in CELL, if any. Each step of making it may take LIMIT_MS
   *  milliseconds. */
  constructor(options: AgentOptions, cell: Cell | undefined, limitMs: number) {
    this.#options = options;
    this.#cell = cell;
    this.#limitMs = limitMs;
  }

  /** Returns how an image of the program SBCL is started from the core; undefined when there is none. */
  command(sbcl: string): Command | undefined {
    const file = this.#file(sbcl);
    return file !== undefined && isOwn(file) ? coreCommand(sbcl, this.#options, file) : undefined;
  }

  /** Removes the core for SBCL, because no image starts from it. */
  discard(sbcl: string): void {
    removeIfThere(this.#file(sbcl));
  }

  /** Returns whether a core for SBCL is still to be made, as far as is known. */
  isMissing(sbcl: string): boolean {
    const file = this.#file(sbcl);
    return file !== undefined && !statsOf(file)?.size;
  }

  /** Makes the core for SBCL from the compiled agent. Returns how an image is started from it; undefined when none could
   *  be made. Whether one started is to be told to `keep`. Never throws: without a core a start takes longer, and that
   *  is all. */
  async make(sbcl: string): Promise<Command | undefined> {
    const file = this.#file(sbcl);
    if (file === undefined) return undefined;
    const partial = `${file}.${process.pid}`;
    this.#partial = partial;
    try {
      const saving = savingCommand(sbcl, { ...this.#options, heapMb: this.#heapMb }, partial);
      const saved = await this.#run(saving);
      if (saved && isOwn(partial)) return coreCommand(sbcl, this.#options, partial);
      if (saved) this.keep(sbcl, false);
    } catch {}
    this.#forget();
    return undefined;
  }

  /** Gives the core that was made last its name. When no image starts from it, as WORKS says, a note that there can be none
   *  takes its place. Never throws. */
  keep(sbcl: string, works: boolean): void {
    const [partial, file] = [this.#partial, this.#file(sbcl)];
    if (partial === undefined || file === undefined || this.#closed) return;
    try {
      if (works) renameSync(partial, file);
      else writeFileSync(file, NONE, { mode: 0o600 });
      removeOldest(file);
    } catch {}
    this.#forget();
  }

  /** Makes none any more. */
  close(): void {
    this.#closed = true;
    this.#maker?.kill('SIGKILL');
    this.#forget();
  }

  #forget(): void {
    removeIfThere(this.#partial);
    this.#partial = undefined;
  }

  get #heapMb(): number {
    return Math.max(LEAST_HEAP_MB, 2 ** Math.ceil(Math.log2(this.#options.heapMb)));
  }

  /** Returns the file of the core for SBCL; another for each program, source of the agent and size of table. */
  #file(sbcl: string): string | undefined {
    try {
      const program = realpathSync(sbcl);
      const { size, mtimeMs } = statSync(program);
      const { SBCL_HOME, SBCL_CORE } = process.env;
      const digest = sourceDigest(this.#options.lispFolder);
      const identity = JSON.stringify([digest, program, size, mtimeMs, SBCL_HOME, SBCL_CORE, this.#heapMb]);
      const name = createHash('sha256').update(identity).digest('hex').slice(0, 16);
      return join(this.#options.cacheFolder, `image-${name}.core`);
    } catch {
      return undefined;
    }
  }

  /** Runs COMMAND, one step of making a core, and returns whether it succeeded. */
  async #run(command: Command): Promise<boolean> {
    if (this.#closed) return false;
    const { process: maker, succeeds } = run(this.#cell?.lockInCompiler(command) ?? command, this.#limitMs);
    this.#maker = maker;
    return succeeds;
  }
}

/** Returns whether FILE is a core that this user alone can have written: it is code that will run. */
function isOwn(file: string): boolean {
  const found = statsOf(file);
  return (
    found?.isFile() === true &&
    found.size > NONE.length &&
    found.uid === process.geteuid?.() &&
    (found.mode & 0o022) === 0
  );
}

/** Returns what the system tells of FILE; undefined where there is none, or can be none. */
function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

/** Removes the cores beside FILE that were used longest ago. */
function removeOldest(file: string): void {
  const folder = dirname(file);
  const cores = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .map((name) => ({ path: join(folder, name), used: statSync(join(folder, name)).atimeMs }))
    .filter(({ path }) => path !== file)
    .sort((one, other) => other.used - one.used);
  for (const { path } of cores.slice(KEPT - 1)) removeIfThere(path);
}

function removeIfThere(file: string | undefined): void {
  if (file !== undefined) rmSync(file, { force: true });
}
