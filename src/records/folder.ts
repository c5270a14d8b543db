// Names the records of a workspace, and limits the number of files in folders that have one file for each workspace.

import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from '../files/digest.ts';

/** Maximum number of files in such a folder. One more file removes the least recently written one. */
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
