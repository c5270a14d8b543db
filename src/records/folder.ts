// Several kinds of records, such as the history of evaluations, have a folder with one entry for each workspace. This
// file computes the names of these entries, and removes old entries.

import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from '../files/digest.ts';

/** Maximum number of files in such a folder. For one more file, the least recently written one is removed. */
const FOLDER_LIMIT = 200;

/** Returns a digest of the real path of the folder ROOT, as 24 hexadecimal digits. The names of the workspace's records
 * contain it. */
export function workspaceDigest(root: string): string {
  return digestOf(realpathSync(root)).slice(0, 24);
}

/** Removes the oldest files of FOLDER until it has space for one more. */
export function removeOldest(folder: string): void {
  if (!existsSync(folder)) return;
  const files = readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, time: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.time - one.time);
  for (const { path } of files.slice(FOLDER_LIMIT - 1)) rmSync(path, { force: true });
}
