// Names the records of a workspace, and limits the files in a folder with one file per workspace.

import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from '../files/digest.ts';

/** Maximum number of files in a folder with one file per workspace. The least recently written are
 *  removed. */
const FOLDER_LIMIT = 200;

/** Returns a digest (24 hexadecimal digits) of ROOT's real path, for the names of its records. */
export function workspaceDigest(root: string): string {
  return digestOf(realpathSync(root)).slice(0, 24);
}

/** Removes the oldest files of FOLDER until there is room for one more. */
export function removeOldest(folder: string): void {
  if (!existsSync(folder)) return;
  const files = readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, time: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.time - one.time);
  for (const { path } of files.slice(FOLDER_LIMIT - 1)) rmSync(path, { force: true });
}
