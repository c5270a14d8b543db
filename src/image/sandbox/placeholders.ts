// Decides how names that code in the sandbox must not make are taken: by empty folders, until no image needs them.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs } from '../../leftovers.ts';
import { makeFolder } from '../../paths.ts';

/** Milliseconds after which a lock is that of a server that was killed, and between two tries to get it. */
const LOCKED_MS = 2000;
const PAUSE_MS = 2;

/** Empty folders in workspaces. Git shows none of them, and takes none for a repository. Several servers can need the
 *  same one, so each notes in a folder of ours that it does. */
export class Placeholders {
  readonly #notes: string;
  readonly #held = new Set<string>();

  /** The notes are in FOLDER, which code in a sandbox cannot change. */
  constructor(folder: string) {
    this.#notes = folder;
  }

  /** Makes those of PATHS that are not there, and keeps them until this process ends. Where none can be made, code can
   *  make none either. */
  hold(paths: readonly string[]): void {
    const wanted = paths.filter((path) => !existsSync(path) || existsSync(this.#noteOf(path)));
    if (wanted.length === 0) return;
    if (this.#held.size === 0) process.once('exit', () => this.#release());
    this.#alone(() => {
      for (const path of wanted) this.#hold(path);
    });
  }

  #hold(path: string): void {
    this.#held.add(path);
    const note = this.#noteOf(path);
    try {
      makeFolder(note, 0o700);
      writeFileSync(join(note, String(process.pid)), '');
      if (!existsSync(path)) mkdirSync(path);
    } catch {
      this.#leave(path);
    }
  }

  /** Removes those that no server needs any more and that are empty still. */
  #release(): void {
    this.#alone(() => {
      for (const path of this.#held) this.#leave(path);
    });
  }

  #leave(path: string): void {
    const note = this.#noteOf(path);
    try {
      rmSync(join(note, String(process.pid)), { force: true });
      for (const name of readdirSync(note)) {
        if (!runs(Number(name))) rmSync(join(note, name), { force: true });
      }
      rmdirSync(note); // This fails while another server needs it,
      rmdirSync(path); // and this when somebody has put something into it: then it is theirs.
    } catch {}
  }

  /** Calls CHANGE while no other server changes them. Does not call it where there can be no notes. */
  #alone(change: () => void): void {
    const lock = join(this.#notes, 'lock');
    try {
      makeFolder(this.#notes, 0o700);
      take(lock);
    } catch {
      return;
    }
    try {
      change();
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }

  #noteOf(path: string): string {
    return join(this.#notes, createHash('sha256').update(path).digest('hex').slice(0, 16));
  }
}

/** Makes the folder LOCK, as soon as nobody else has it. */
function take(lock: string): void {
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
    if (since !== undefined && Date.now() - since > LOCKED_MS) rmSync(lock, { recursive: true, force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
}
