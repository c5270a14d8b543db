// Reads loaded files, and finds those that have changed since.

import { setImmediate as pause } from 'node:timers/promises';
import { findLocalFolders, isOnLocalDisk } from '../../files/answering.ts';
import { digestOf } from '../../files/digest.ts';
import { type ReadLimits, readIfRegular, readRegularAsync } from '../../files/regular.ts';

/** Maps file names to digests of their content. */
export type Digests = { readonly [file: string]: string };

/** Larger files, in octets, are not read. */
const LIMIT = 16 * 1024 * 1024;

/** Reads files whose names come from the image. */
export class LoadedFileReader {
  readonly #bounds: ReadLimits;

  /** FORBIDS returns the reason why the file with a real path must not be read; undefined when it may be. */
  constructor(forbids?: ReadLimits['forbids']) {
    this.#bounds = { limit: LIMIT, ...(forbids && { forbids }) };
  }

  /** Returns the content of FILE; undefined when the file is too large, cannot be read, or is on a file
   *  system that does not answer. */
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
