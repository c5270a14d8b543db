// Decides whether only this user can have written a file or folder, so that its content may be executed. Also checks
// whether the process that wrote a file still runs.

import { chmodSync, lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './paths.ts';

/** Returns true when only this user can have written to the file or folder that has STATS. */
export function isOwn({ uid, mode }: Stats): boolean {
  return uid === process.geteuid?.() && (mode & 0o022) === 0;
}

/** Returns true when PATH is a regular file that only this user can have written. A link does not count. */
export function isOwnFile(path: string): boolean {
  try {
    const stats = lstatSync(path);
    return stats.isFile() && isOwn(stats);
  } catch {
    return false;
  }
}

/** Creates FOLDER and its parents, accessible only to this user. If FOLDER exists, removes the access of other users to
 * it. Throws when FOLDER is not a folder, or belongs to another user. */
export function makeOwnFolder(folder: string): void {
  makeFolder(dirname(folder), 0o700);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const stats = statSync(folder);
  if (!stats.isDirectory() || stats.uid !== process.geteuid?.())
    throw new Error(`${folder} is not a folder that you own; remove it`);
  if ((stats.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/** Returns false when there is no process with the id PID. Returns true also for a process of another user. Returns
 * true for an invalid PID, because callers remove files when the result is false. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
