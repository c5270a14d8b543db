// Decides what the records of a workspace are called, and how many stay in a folder that has a file for each.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Files in such a folder; those that were not written for longest go. */
const FOLDER_LIMIT = 200;

/** Returns what stands for the workspace ROOT in the names of its records: 24 digits. */
export function workspaceDigest(root: string): string {
  return createHash('sha256').update(realpathSync(root)).digest('hex').slice(0, 24);
}

/** Removes files of FOLDER until there is room for one more. */
export function removeOldest(folder: string): void {
  if (!existsSync(folder)) return;
  const files = readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, time: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.time - one.time);
  for (const { path } of files.slice(FOLDER_LIMIT - 1)) rmSync(path, { force: true });
}
