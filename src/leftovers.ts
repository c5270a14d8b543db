// Removes unused files from the cache.

import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from './ownership.ts';

/** Milliseconds without use after which a file counts as that of an unused version of the program. */
const UNUSED_MS = 30 * 24 * 60 * 60 * 1000;

/** Removes the unused files of FOLDER whose names match KIND, except those with names that begin with one of
 *  CURRENT. The group `part` of KIND matches the suffix of an unfinished file, which begins with the process
 *  id of its writer. Never throws. */
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
      // Another server has removed the file.
    }
  }
}

/** Returns the names in FOLDER; none when it cannot be listed. */
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
  // Not every file system records read times, so both times count.
  return Date.now() - Math.max(stats.atimeMs, stats.mtimeMs) > UNUSED_MS;
}
