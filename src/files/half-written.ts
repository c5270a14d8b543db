// Decides how a file is named while it is written, and when what a killed server left of such files is removed.

import { randomBytes } from 'node:crypto';
import { lstat, readdir, unlink } from 'node:fs/promises';
import type { Folder } from './folder.ts';

const NAME = /^\.live-lisp-[0-9a-f]{16}\.(?:tmp|old)$/;

/** Milliseconds after which no server writes a file any more. */
const STALE_MS = 60 * 60 * 1000;

/** Returns a new name for a file that is not written to its end, or with `old` for one that gives way meanwhile. */
export function temporaryName(kind: 'tmp' | 'old' = 'tmp'): string {
  return `.live-lisp-${randomBytes(8).toString('hex')}.${kind}`;
}

/** Returns whether a file NAME is one that is there only while a file is written, or was. */
export function isTemporary(name: string): boolean {
  return NAME.test(name);
}

/** Removes from FOLDER what servers that were killed left there. */
export async function removeStale(folder: Folder): Promise<void> {
  const names = await readdir(folder.at('.')).catch(() => []);
  for (const name of names.filter(isTemporary)) {
    const stats = await lstat(folder.at(name)).catch(() => undefined);
    // A second name is younger than its file.
    const since = name.endsWith('.old') ? stats?.ctimeMs : stats?.mtimeMs;
    if (stats?.isFile() && since !== undefined && Date.now() - since > STALE_MS) {
      await unlink(folder.at(name)).catch(() => {});
    }
  }
}
