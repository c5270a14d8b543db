// Decides how names that code in the sandbox must not make are taken: by empty folders, until no image needs them.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { answered, isThere } from '../../files/answering.ts';
import { runs } from '../../leftovers.ts';
import { makeFolder } from '../../paths.ts';

/** Milliseconds after which a lock is that of a server that was killed, and between two tries to get it. */
const LOCKED_MS = 2000;
const PAUSE_MS = 2;
/** Milliseconds that the end of this process waits for the file systems of the workspaces, less than the lock holds. */
const REMOVING_MS = 1000;

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
   *  make none either. Throws an UnansweredError when a file system does not answer. */
  async hold(paths: readonly string[]): Promise<void> {
    const wanted: string[] = [];
    for (const path of paths) {
      if (existsSync(this.#noteOf(path)) || !(await isThere(path))) wanted.push(path);
    }
    if (wanted.length === 0) return;
    if (this.#held.size === 0) process.once('exit', () => this.#release());
    // Another server removes none that is noted, so they are made without the lock, which no file system may hold up.
    this.#alone(() => wanted.forEach((path) => void this.#note(path)));
    for (const path of this.#held) {
      if (!(await isThere(path))) await answered(dirname(path), () => mkdir(path).catch(() => {}));
    }
  }

  /** Notes that this server needs PATH, where that can be noted. */
  #note(path: string): void {
    const note = this.#noteOf(path);
    try {
      makeFolder(note, 0o700);
      writeFileSync(join(note, String(process.pid)), '');
      this.#held.add(path);
    } catch {}
  }

  /** Removes those that no server needs any more and that are empty still. */
  #release(): void {
    this.#alone(() => removeEmpty([...this.#held].filter((path) => this.#leave(path))));
  }

  /** Takes back that this server needs PATH, and returns whether no other does. */
  #leave(path: string): boolean {
    const note = this.#noteOf(path);
    try {
      rmSync(join(note, String(process.pid)), { force: true });
      for (const name of readdirSync(note)) {
        if (!runs(Number(name))) rmSync(join(note, name), { force: true });
      }
      rmdirSync(note); // This fails while another server needs it.
      return true;
    } catch {
      return false;
    }
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

/** Removes those of FOLDERS that are empty: into others somebody has put something, so they are theirs. Another process does
 *  that, which can be ended when the file system does not answer. */
function removeEmpty(folders: readonly string[]): void {
  if (folders.length === 0) return;
  spawnSync('rmdir', ['--', ...folders], { stdio: 'ignore', timeout: REMOVING_MS, killSignal: 'SIGKILL' });
}
