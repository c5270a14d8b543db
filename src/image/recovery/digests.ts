// Reads the files that were loaded, and detects which of them changed since.

import { createHash } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';
import { isNear, lookWhere } from '../../files/answering.ts';
import { type Bounds, readIfRegular, readRegularAside } from '../../files/regular.ts';

/** The digests of files by their names. */
export type Digests = { readonly [file: string]: string };

/** Octets above which the content of a file is not looked at. */
const LIMIT = 16 * 1024 * 1024;

/** Returns what another content than CONTENT has otherwise. */
export function digestOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Reads files whose names the image tells. */
export class LoadedFiles {
  readonly #bounds: Bounds;

  /** FORBIDS returns why the file at a real path is not read, if it is not. */
  constructor(forbids?: Bounds['forbids']) {
    this.#bounds = { limit: LIMIT, ...(forbids && { forbids }) };
  }

  /** Returns the content of FILE, or undefined when it is too large, cannot be read, or its file system does not answer. */
  async read(file: string): Promise<Buffer | undefined> {
    await lookWhere([file]);
    if (isNear(file)) return readIfRegular(file, this.#bounds)?.octets;
    const found = await readRegularAside(file, this.#bounds).catch(() => undefined);
    return found?.octets;
  }

  /** Returns the digests of those of FILES that can be read. */
  async digestsOf(files: readonly string[]): Promise<Digests> {
    const digests: { [file: string]: string } = {};
    for (const file of files) {
      const content = await this.read(file);
      if (content !== undefined) digests[file] = digestOf(content);
      await pause();
    }
    return digests;
  }

  /** Returns those of the files in DIGESTS that are not what they were. */
  async changedSince(digests: Digests): Promise<string[]> {
    const now = await this.digestsOf(Object.keys(digests));
    return Object.keys(digests).filter((file) => now[file] !== digests[file]);
  }
}
