// Decides whether only this user can have written a file or folder, so that its content may be executed. Also
// decides whether the process that wrote it still runs.

import { chmodSync, lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './paths.ts';

/** True when only this user can have written the file or folder with STATS. */
export function isOwn({ uid, mode }: Stats): boolean {
  return uid === process.geteuid?.() && (mode & 0o022) === 0;
}

/** True when PATH is a regular file, not a link, that only this user can have written. */
export function isOwnFile(path: string): boolean {
  try {
    const stats = lstatSync(path);
    return stats.isFile() && isOwn(stats);
  } catch {
    return false;
  }
}

/** Creates FOLDER and its parents for this user alone. Removes the access of other users from an existing
 *  FOLDER. Throws when FOLDER is not a folder or belongs to another user. */
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

/** False when no process has the id PID. True also for a process of another user, and for an invalid PID,
 *  because callers remove the files of ended processes. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
