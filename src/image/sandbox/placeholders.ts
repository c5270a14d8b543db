// Creates empty folders in the places where sandboxed code must not create anything, and removes them when no
// server needs them any more.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isThere, withFileTimeout } from '../../files/answering.ts';
import { digestOf } from '../../files/digest.ts';
import { withLock } from '../../lock.ts';
import { isRunning } from '../../own.ts';
import { makeFolder } from '../../paths.ts';

/** When this process exits, it waits at most this long for the removal of its folders. It holds the lock
 *  meanwhile, so this must be shorter than the time after which other processes take the lock (lock.ts). */
const REMOVING_MS = 1000;

/** Empty folders in workspaces. Git neither shows them nor takes them for repositories. Several servers can
 *  need the same empty folder. So a server writes a note for each folder that it needs: a file, named by the
 *  server's process id, in a folder outside the workspace. */
export class Placeholders {
  readonly #notes: string;
  readonly #noted = new Set<string>();

  /** FOLDER holds the notes. Sandboxed code must not be able to change it. */
  constructor(folder: string) {
    this.#notes = folder;
  }

  /** Creates an empty folder at each of PATHS that does not exist, and keeps it until this process ends. Does
   *  nothing at a path where this process cannot create a folder, because sandboxed code cannot either.
   *  Throws an UnresponsiveFolderError when a file system does not answer. */
  async occupy(paths: readonly string[]): Promise<void> {
    const wanted: string[] = [];
    for (const path of paths) {
      const isNoted = () => existsSync(this.#noteOf(path));
      if (isNoted() || !(await isThere(path)) || isNoted()) wanted.push(path);
    }
    if (wanted.length === 0) return;
    if (this.#noted.size === 0) process.once('exit', () => this.#release());
    // No server removes a folder for which there is a note. So the folders can be created after the lock is
    // released. While a file system does not answer, the lock is then free.
    this.#withLock(() => wanted.forEach((path) => void this.#note(path)));
    for (const path of this.#noted) {
      if (!(await isThere(path))) await withFileTimeout(dirname(path), () => mkdir(path).catch(() => {}));
    }
  }

  /** Writes the note that this server needs the folder PATH, if the note can be written. */
  #note(path: string): void {
    const note = this.#noteOf(path);
    try {
      makeFolder(note, 0o700);
      writeFileSync(join(note, String(process.pid)), '');
      this.#noted.add(path);
    } catch {}
  }

  /** Removes the folders that no server needs any more and that are still empty. Removes their folders of
   *  notes only after that: a server that starts now would take an empty folder without notes for a folder of
   *  the user. */
  #release(): void {
    this.#withLock(() => {
      const unneeded = [...this.#noted].filter((path) => this.#removeNote(path));
      removeEmpty(unneeded);
      for (const path of unneeded) removeEmptyFolder(this.#noteOf(path));
    });
  }

  /** Removes this server's note for the folder PATH. Returns true when no other running server has such a
   *  note. */
  #removeNote(path: string): boolean {
    const note = this.#noteOf(path);
    try {
      rmSync(join(note, String(process.pid)), { force: true });
      for (const name of readdirSync(note)) {
        if (!isRunning(Number(name))) rmSync(join(note, name), { force: true });
      }
      return readdirSync(note).length === 0;
    } catch {
      return false;
    }
  }

  /** Runs CHANGE while this process holds the lock on the notes. Does nothing when the folder of notes cannot
   *  be used. */
  #withLock(change: () => void): void {
    try {
      makeFolder(this.#notes, 0o700);
      withLock(join(this.#notes, 'lock'), change);
    } catch {}
  }

  #noteOf(path: string): string {
    return join(this.#notes, digestOf(path).slice(0, 16));
  }
}

/** Removes FOLDER, a folder of notes, unless it contains the note of another server or is gone already. */
function removeEmptyFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {}
}

/** Removes those of FOLDERS that are empty. A folder with content now belongs to the user. A separate process
 *  does this, because it can be killed when a file system does not answer. */
function removeEmpty(folders: readonly string[]): void {
  if (folders.length === 0) return;
  spawnSync('rmdir', ['--', ...folders], { stdio: 'ignore', timeout: REMOVING_MS, killSignal: 'SIGKILL' });
}
