// Creates empty folders in places where sandboxed code must not create anything. Removes them when no server needs
// them.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isThere, withFileTimeout } from '../../files/answering.ts';
import { digestOf } from '../../files/digest.ts';
import { withLock } from '../../lock.ts';
import { isRunning } from '../../ownership.ts';
import { makeFolder } from '../../paths.ts';

/** Maximum number of milliseconds for which the exit of this process waits until its folders are removed. The process
 * holds the lock while it waits, so this must be shorter than the time after which another process takes the lock by
 * force (see lock.ts). */
const REMOVING_MS = 1000;

/** Empty folders in workspaces. Git does not show them, and does not consider them repositories. Several servers can
 * need the same folder. So each server writes a note for each folder that it needs: a file, outside the workspace,
 * whose name is the server's process id. */
export class Placeholders {
  readonly #notes: string;
  readonly #noted = new Set<string>();

  /** FOLDER is the folder for the notes of all servers. Code in a sandbox must not be able to change this folder. */
  constructor(folder: string) {
    this.#notes = folder;
  }

  /** Creates an empty folder at each of PATHS that does not exist. The folders stay until this process ends. Skips a
   * path where this process cannot create a folder, because sandboxed code cannot create one there either. Throws an
   * UnresponsiveFolderError when a file system does not answer. */
  async occupy(paths: readonly string[]): Promise<void> {
    const wanted: string[] = [];
    for (const path of paths) {
      const isNoted = () => existsSync(this.#noteOf(path));
      if (isNoted() || !(await isThere(path)) || isNoted()) wanted.push(path);
    }
    if (wanted.length === 0) return;
    if (this.#noted.size === 0) process.once('exit', () => this.#release());
    // Only the notes are written under the lock. No server removes a folder that has a note, so the folders can be
    // created after the release of the lock. There, a file system that does not answer does not make others wait.
    this.#withLock(() => wanted.forEach((path) => void this.#note(path)));
    for (const path of this.#noted) {
      if (!(await isThere(path))) await withFileTimeout(dirname(path), () => mkdir(path).catch(() => {}));
    }
  }

  #note(path: string): void {
    const note = this.#noteOf(path);
    try {
      makeFolder(note, 0o700);
      writeFileSync(join(note, String(process.pid)), '');
      this.#noted.add(path);
    } catch {}
  }

  /** Removes the empty folders that no server needs any more, and then the folders in which servers have noted that
   * they need them. The order matters: a server that starts in between would take an empty folder without notes for a
   * folder of the user. */
  #release(): void {
    this.#withLock(() => {
      const unneeded = [...this.#noted].filter((path) => this.#removeNote(path));
      removeEmpty(unneeded);
      for (const path of unneeded) removeEmptyFolder(this.#noteOf(path));
    });
  }

  /** Removes this server's note for the folder PATH. Returns true when no other running server has a note for it. */
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

  /** Runs CHANGE while this process holds the lock on the notes. Does nothing when the folder of notes cannot be
   * used. */
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

/** Removes FOLDER, a folder of notes, unless it contains a note of another server. It may be gone already. */
function removeEmptyFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {}
}

/** Removes those of FOLDERS that are empty. A folder that is not empty now belongs to the user. This is done by a
 * separate process, which can be killed when a file system does not answer. */
function removeEmpty(folders: readonly string[]): void {
  if (folders.length === 0) return;
  spawnSync('rmdir', ['--', ...folders], { stdio: 'ignore', timeout: REMOVING_MS, killSignal: 'SIGKILL' });
}
