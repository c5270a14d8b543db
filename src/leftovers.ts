// Decides which files in the cache nobody uses any more.

import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** How long another version of the program may leave a file unused until it is taken to be gone. */
const UNUSED_MS = 30 * 24 * 60 * 60 * 1000;

/** Removes the files of FOLDER that KIND matches and nobody uses, but for those whose names begin as one of CURRENT. The
 *  group `part` of KIND is what an unfinished file has behind its name. It begins with the number of the process that
 *  makes the file. Never throws. */
export function removeLeftovers(folder: string, kind: RegExp, current: readonly string[]): void {
  for (const name of namesIn(folder)) {
    const match = kind.exec(name);
    if (match === null) continue;
    const part = match.groups?.['part'];
    if (part === undefined && current.some((each) => name.startsWith(each))) continue;
    try {
      const path = join(folder, name);
      if (isLeft(path, part)) rmSync(path);
    } catch {
      // Another server was faster.
    }
  }
}

/** Returns the names in FOLDER: none when there is no such folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isLeft(path: string, part: string | undefined): boolean {
  const stats = lstatSync(path);
  if (!stats.isFile()) return false;
  const maker = /^\d+(?=\.|$)/.exec(part ?? '')?.[0];
  if (maker !== undefined && !runs(Number(maker))) return true;
  // Not every file system keeps when a file was read.
  return Date.now() - Math.max(stats.atimeMs, stats.mtimeMs) > UNUSED_MS;
}

/** Returns whether a process has the number PID. */
export function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
