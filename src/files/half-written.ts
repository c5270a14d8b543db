// Names temporary files, and removes those that killed servers left.

import { randomBytes } from 'node:crypto';
import { lstat, readdir, unlink } from 'node:fs/promises';
import type { Folder } from './folder.ts';

const NAME = /^\.live-lisp-[0-9a-f]{16}\.(?:tmp|old)$/;

/** Temporary files that are older than this belong to no running write. */
const STALE_MS = 60 * 60 * 1000;

/** Returns a new temporary name: `tmp` for a file being written, `old` for the copy of one being replaced. */
export function temporaryName(kind: 'tmp' | 'old' = 'tmp'): string {
  return `.live-lisp-${randomBytes(8).toString('hex')}.${kind}`;
}

/** True when NAME is that of a temporary file. */
export function isTemporary(name: string): boolean {
  return NAME.test(name);
}

/** Removes from FOLDER the temporary files that killed servers left. */
export async function removeStale(folder: Folder): Promise<void> {
  const names = await readdir(folder.at('.')).catch(() => []);
  for (const name of names.filter(isTemporary)) {
    const stats = await lstat(folder.at(name)).catch(() => undefined);
    // A hard link keeps the mtime of its file, so its ctime counts.
    const since = name.endsWith('.old') ? stats?.ctimeMs : stats?.mtimeMs;
    if (stats?.isFile() && since !== undefined && Date.now() - since > STALE_MS) {
      await unlink(folder.at(name)).catch(() => {});
    }
  }
}
