// Names temporary files, and removes those of killed servers.

import { randomBytes } from 'node:crypto';
import { lstat, readdir, unlink } from 'node:fs/promises';
import type { Folder } from './folder.ts';

const NAME = /^\.live-lisp-[0-9a-f]{16}\.(?:tmp|old)$/;

/** A temporary file of more than this age belongs to no running write. */
const STALE_MS = 60 * 60 * 1000;

/** Returns a new name: `tmp` for a file being written, `old` for the copy of a file being replaced. */
export function temporaryName(kind: 'tmp' | 'old' = 'tmp'): string {
  return `.live-lisp-${randomBytes(8).toString('hex')}.${kind}`;
}

/** True when NAME is the name of a temporary file. */
export function isTemporary(name: string): boolean {
  return NAME.test(name);
}

/** Removes the temporary files of killed servers from FOLDER. */
export async function removeStale(folder: Folder): Promise<void> {
  const names = await readdir(folder.at('.')).catch(() => []);
  for (const name of names.filter(isTemporary)) {
    const stats = await lstat(folder.at(name)).catch(() => undefined);
    // An `old` file is a hard link with the mtime of the original, so only its ctime is the time of the link.
    const since = name.endsWith('.old') ? stats?.ctimeMs : stats?.mtimeMs;
    if (stats?.isFile() && since !== undefined && Date.now() - since > STALE_MS) {
      await unlink(folder.at(name)).catch(() => {});
    }
  }
}
