// Decides how a file is named while it is written, and when what a killed server left of such files is removed.

import { randomBytes } from 'node:crypto';
import { lstat, readdir, unlink } from 'node:fs/promises';
import type { Folder } from './folder.ts';

const NAME = /^\.live-lisp-[0-9a-f]{16}\.tmp$/;

/** Milliseconds after which no server writes a file any more. */
const STALE_MS = 60 * 60 * 1000;

/** Returns a new name for a file that is not written to its end. */
export function temporaryName(): string {
  return `.live-lisp-${randomBytes(8).toString('hex')}.tmp`;
}

/** Returns whether a file NAME is one that is, or was, not written to its end. */
export function isTemporary(name: string): boolean {
  return NAME.test(name);
}

/** Removes from FOLDER what servers that were killed left there. */
export async function removeStale(folder: Folder): Promise<void> {
  const names = await readdir(folder.at('.')).catch(() => []);
  for (const name of names.filter(isTemporary)) {
    const stats = await lstat(folder.at(name)).catch(() => undefined);
    if (stats?.isFile() && Date.now() - stats.mtimeMs > STALE_MS) {
      await unlink(folder.at(name)).catch(() => {});
    }
  }
}
