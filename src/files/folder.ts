// Holds a directory open. Files are then opened in this very directory, even if its path is changed.

import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, realpath, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { withFileTimeout } from './answering.ts';
import { openRegular } from './regular.ts';

/** True when the system has paths for open directories, as Linux has. Such a path always leads into the directory. On
 * other systems, the real path is checked after each use, but not after the rename that completes a write. */
const HAS_DESCRIPTOR_PATHS = existsSync('/proc/self/fd');
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** A regular file, opened for reading. */
export interface OpenFile {
  handle: FileHandle;
  stats: Stats;
}

export class Folder {
  readonly #handle: FileHandle;
  readonly path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.path = path;
  }

  /** Opens the directory PATH, which must not be a link. Its parents may be links, so callers must check `path`. */
  static async open(path: string): Promise<Folder> {
    const handle = await withFileTimeout(path, () => open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    try {
      const real = await (HAS_DESCRIPTOR_PATHS ? readlink(`/proc/self/fd/${handle.fd}`) : realpath(path));
      const folder = new Folder(handle, real);
      await folder.#confirmPath();
      return folder;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Returns a path for the entry NAME of this directory. NAME must not contain slashes. */
  at(name: string): string {
    return HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${this.#handle.fd}/${name}` : join(this.path, name);
  }

  /** Opens the file NAME for reading. If it is not a regular file, returns only its stats. Returns undefined when it
   * does not exist. */
  async openFile(name: string): Promise<OpenFile | { stats: Stats } | undefined> {
    const found = await withFileTimeout(this.path, () => lstat(this.at(name))).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      },
    );
    if (!found?.isFile()) return found && { stats: found };
    const { handle, stats } = await withFileTimeout(this.path, () => openRegular(this.at(name)));
    try {
      await this.confirm(name, stats);
    } catch (error) {
      await handle?.close();
      throw error;
    }
    return handle === undefined ? { stats } : { handle, stats };
  }

  /** Opens the directory NAME, which is in this one. If it does not exist, creates it and returns true as `created`. */
  async openOrMake(name: string): Promise<{ folder: Folder; created: boolean }> {
    const created = await mkdir(this.at(name)).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false;
        throw error;
      },
    );
    return { folder: await Folder.open(this.at(name)), created };
  }

  async removeEmpty(name: string): Promise<void> {
    await rmdir(this.at(name)).catch(() => {});
  }

  /** Throws when the entry NAME of this directory is no longer the open file that has STATS. */
  async confirm(name: string, stats: Stats): Promise<void> {
    if (HAS_DESCRIPTOR_PATHS) return;
    await this.#confirmPath();
    if (!sameFile(stats, await lstat(this.at(name)))) throw stale();
  }

  async #confirmPath(): Promise<void> {
    if (HAS_DESCRIPTOR_PATHS) return;
    const same = sameFile(await this.#handle.stat(), await stat(this.path));
    if (!same || (await realpath(this.path)) !== this.path) throw stale();
  }

  /** Writes changes of the entries of this directory to the disk, if the system can do this. */
  async sync(): Promise<void> {
    await this.#handle.sync().catch(() => {});
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

function sameFile(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

function stale(): Error {
  return Object.assign(new Error('The path leads elsewhere by now.'), { code: 'ESTALE' });
}
