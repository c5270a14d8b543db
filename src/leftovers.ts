// Removes files from the cache that no version of the program in use needs.

import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from './ownership.ts';

/** Milliseconds after its last use for which a file stays in the cache. */
const UNUSED_MS = 30 * 24 * 60 * 60 * 1000;

/** Removes the unused files in FOLDER whose names match KIND. Keeps files whose names begin with one of CURRENT. In
 * KIND, the group `part` matches the suffix of an incomplete file; it begins with the process id of its writer. Never
 * throws. */
export function removeLeftovers(folder: string, kind: RegExp, current: readonly string[]): void {
  for (const name of namesInFolder(folder)) {
    const match = kind.exec(name);
    if (match === null) continue;
    const part = match.groups?.['part'];
    if (part === undefined && current.some((each) => name.startsWith(each))) continue;
    try {
      const path = join(folder, name);
      if (isLeftover(path, part)) rmSync(path);
    } catch {
      // Another server has removed the file already.
    }
  }
}

/** Returns the names of the entries of FOLDER; [] when they cannot be listed. */
export function namesInFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isLeftover(path: string, part: string | undefined): boolean {
  const stats = lstatSync(path);
  if (!stats.isFile()) return false;
  const writerPid = /^\d+(?=\.|$)/.exec(part ?? '')?.[0];
  if (writerPid !== undefined && !isRunning(Number(writerPid))) return true;
  // Some file systems do not record when a file was read, so the time of the last change counts too.
  return Date.now() - Math.max(stats.atimeMs, stats.mtimeMs) > UNUSED_MS;
}
