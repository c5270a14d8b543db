// Decides how it is told whether a source file is still what was loaded.

import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** The digests of files by their names. */
export type Digests = { readonly [file: string]: string };

/** Bytes above which the content of a file is not looked at. */
const FILE_LIMIT = 16 * 1024 * 1024;

/** Returns what another content than CONTENT has otherwise. */
export function digestOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Returns the content of FILE, or undefined when it is too large or cannot be read. */
export function readBounded(file: string): Buffer | undefined {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= FILE_LIMIT ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the digests of those of FILES that can be read. */
export async function digestsOf(files: readonly string[]): Promise<Digests> {
  const digests: { [file: string]: string } = {};
  for (const file of files) {
    try {
      const stats = await stat(file);
      if (stats.isFile() && stats.size <= FILE_LIMIT) digests[file] = digestOf(await readFile(file));
    } catch {
      // It is gone already, or never was there: a component can be made while the system is loaded.
    }
  }
  return digests;
}

/** Returns those of the files in DIGESTS that are not what they were. */
export async function changedSince(digests: Digests): Promise<string[]> {
  const now = await digestsOf(Object.keys(digests));
  return Object.keys(digests).filter((file) => now[file] !== digests[file]);
}
