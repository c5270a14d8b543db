// Decides which files and folders this user alone can have written, so that what is in them may be run.

import { chmodSync, lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './paths.ts';

/** Returns whether this user alone can have written the file or folder with STATS. */
export function isOwn({ uid, mode }: Stats): boolean {
  return uid === process.geteuid?.() && (mode & 0o022) === 0;
}

/** Returns whether PATH is a regular file, and no link, that this user alone can have written. */
export function isOwnFile(path: string): boolean {
  try {
    const stats = lstatSync(path);
    return stats.isFile() && isOwn(stats);
  } catch {
    return false;
  }
}

/** Makes FOLDER, which this user alone can reach, with its parents. One of this user that others can reach is closed to
 *  them. Throws when something else is there, or it is somebody else's. */
export function makeOwnFolder(folder: string): void {
  makeFolder(dirname(folder), 0o700);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const stats = statSync(folder);
  if (!stats.isDirectory() || stats.uid !== process.geteuid?.())
    throw new Error(`${folder} is not a folder that its owner alone can use; remove it`);
  if ((stats.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}
