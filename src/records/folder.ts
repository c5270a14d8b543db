// Decides how many files of workspaces stay in a folder that has one for each.

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Files in such a folder; those that were not written for longest go. */
const FOLDER_LIMIT = 200;

/** Removes files of FOLDER until there is room for one more. */
export function removeOldest(folder: string): void {
  if (!existsSync(folder)) return;
  const files = readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => ({ path, time: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((one, other) => other.time - one.time);
  for (const { path } of files.slice(FOLDER_LIMIT - 1)) rmSync(path, { force: true });
}
