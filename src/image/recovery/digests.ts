// Reads files that an image has loaded, and finds those that have changed since then.

import { setImmediate as pause } from 'node:timers/promises';
import { findLocalFolders, isOnLocalDisk } from '../../files/answering.ts';
import { digestOf } from '../../files/digest.ts';
import { type ReadLimits, readIfRegular, readRegularAsync } from '../../files/regular.ts';

/** Maps the names of files to digests of their contents. */
export type Digests = { readonly [file: string]: string };

/** Maximum number of octets of a file that is read. */
const LIMIT = 16 * 1024 * 1024;

/** Reads files whose names the image has sent. */
export class LoadedFileReader {
  readonly #bounds: ReadLimits;

  /** FORBIDS returns the reason why a file, given by its real path, must not be read; undefined when it may be read. */
  constructor(forbids?: ReadLimits['forbids']) {
    this.#bounds = { limit: LIMIT, ...(forbids && { forbids }) };
  }

  /** Returns the content of FILE. Returns undefined when FILE is too large or cannot be read, or when its file system
   * does not answer. */
  async read(file: string): Promise<Buffer | undefined> {
    await findLocalFolders([file]);
    if (isOnLocalDisk(file)) return readIfRegular(file, this.#bounds)?.octets;
    const found = await readRegularAsync(file, this.#bounds).catch(() => undefined);
    return found?.octets;
  }

  async digestsOf(files: readonly string[]): Promise<Digests> {
    const digests: { [file: string]: string } = {};
    for (const file of files) {
      const content = await this.read(file);
      if (content !== undefined) digests[file] = digestOf(content);
      await pause();
    }
    return digests;
  }

  async changedSince(digests: Digests): Promise<string[]> {
    const now = await this.digestsOf(Object.keys(digests));
    return Object.keys(digests).filter((file) => now[file] !== digests[file]);
  }
}
