// Names temporary files, and removes temporary files that killed servers left.

import { randomBytes } from 'node:crypto';
import { lstat, readdir, unlink } from 'node:fs/promises';
import type { Folder } from './folder.ts';

const NAME = /^\.live-lisp-[0-9a-f]{16}\.(?:tmp|old)$/;

/** A temporary file that is older than this, in milliseconds, was left by a killed server. */
const STALE_MS = 60 * 60 * 1000;

/** Returns a new name for a temporary file: `tmp` for a file that is being written, `old` for the old content of a file
 * that is being replaced. */
export function temporaryName(kind: 'tmp' | 'old' = 'tmp'): string {
  return `.live-lisp-${randomBytes(8).toString('hex')}.${kind}`;
}

/** Returns true when NAME is a name that temporaryName can return. */
export function isTemporary(name: string): boolean {
  return NAME.test(name);
}

/** Removes from FOLDER the temporary files that killed servers left. An `old` file can have the only copy of its content,
 * which a later server needs: NEEDED has the names of those. If it is undefined, they are unknown, and no `old` file is
 * removed. */
export async function removeStale(folder: Folder, needed?: ReadonlySet<string>): Promise<void> {
  const names = await readdir(folder.at('.')).catch(() => []);
  const isNeeded = (name: string) => name.endsWith('.old') && (needed === undefined || needed.has(name));
  for (const name of names.filter((each) => isTemporary(each) && !isNeeded(each))) {
    const stats = await lstat(folder.at(name)).catch(() => undefined);
    // An `old` file is a hard link to the original and has its mtime. Only its ctime is the time when it was made.
    const since = name.endsWith('.old') ? stats?.ctimeMs : stats?.mtimeMs;
    if (stats?.isFile() && since !== undefined && Date.now() - since > STALE_MS) {
      await unlink(folder.at(name)).catch(() => {});
    }
  }
}
