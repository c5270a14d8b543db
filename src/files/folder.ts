// Holds a directory open, so that files are opened in this very directory, even if its path changes.

import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, realpath, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { withFileTimeout } from './answering.ts';
import { openRegular } from './regular.ts';

/** Whether the system, as Linux, has a path for an open directory that always leads into it. On other systems
 *  the real path is checked after each use, except after the rename that completes a write. */
const HAS_DESCRIPTOR_PATHS = existsSync('/proc/self/fd');
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** A regular file that is open for reading. */
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

  /** Opens the directory PATH, which must be no link. Its parents may be links, so callers check `path`. */
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

  /** Returns the path of the entry NAME of this directory. NAME is one path component, without slashes. */
  at(name: string): string {
    return HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${this.#handle.fd}/${name}` : join(this.path, name);
  }

  /** Opens NAME for reading. Returns only its stats when it is no regular file, and undefined when it does
   *  not exist. */
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

  /** Opens the directory NAME in this one. Creates it if it does not exist; then `created` is true. */
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

  /** Throws unless NAME in this directory is still the open file with STATS. */
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

  /** Flushes the names in the directory to the disk, if the system can do so. */
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
