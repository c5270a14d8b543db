// Removes files from the cache that no version of the program in use needs.

import { lstatSync, readdirSync, utimesSync } from 'node:fs';
import { lstat, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning } from './ownership.ts';
import { removeIfPossible } from './paths.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Milliseconds after its last use for which a file stays in the cache. */
const UNUSED_MS = 30 * DAY_MS;
/** Maximum number of files of other versions that stay in the cache for UNUSED_MS. All others stay for RECENT_MS. */
const KEPT_FILES = 10;
/** A file that nobody has read for this number of milliseconds is no longer in use. The time is long, because many file
 * systems record a read at most once a day. */
const RECENT_MS = 2 * DAY_MS;

/** Removes the unused files in FOLDER whose names match KIND. Keeps complete files whose names begin with one of
 * CURRENT. The group `part` of KIND matches the suffix of the name of an incomplete file. This suffix begins with the
 * id of the process that writes the file. Never throws. */
export function removeLeftovers(folder: string, kind: RegExp, current: readonly string[]): void {
  const complete: { path: string; unusedMs: number }[] = [];
  for (const name of namesInFolder(folder)) {
    const match = kind.exec(name);
    if (match === null) continue;
    const part = match.groups?.['part'];
    if (part === undefined && current.some((each) => name.startsWith(each))) continue;
    const path = join(folder, name);
    const unusedMs = unusedTime(path);
    if (unusedMs === undefined) continue;
    if (part === undefined) complete.push({ path, unusedMs });
    else if (unusedMs > UNUSED_MS || hasEnded(part)) removeIfPossible(path);
  }
  complete.sort((one, other) => one.unusedMs - other.unusedMs);
  for (const [index, { path, unusedMs }] of complete.entries())
    if (unusedMs > (index < KEPT_FILES ? UNUSED_MS : RECENT_MS)) removeIfPossible(path);
}

/** Removes the folders in FOLDER for which `noteUse` was last called more than 30 days ago, with their contents. Never
 * throws. */
export async function removeUnusedFolders(folder: string): Promise<void> {
  for (const name of namesInFolder(folder)) {
    const path = join(folder, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isDirectory() !== true || Date.now() - stats.mtimeMs <= UNUSED_MS) continue;
    // The folder is renamed first, so that a server that starts now creates a new one instead of using a part of it.
    const removed = join(folder, `${name.replace(/\..*/, '')}.${process.pid}`);
    await rename(path, removed)
      .then(() => rm(removed, { recursive: true, force: true }))
      .catch(() => {});
  }
}

/** Sets the modification time of FOLDER, now and once a day until this process ends. Never throws. */
export function noteUse(folder: string): void {
  const note = () => {
    try {
      utimesSync(folder, new Date(), new Date());
    } catch {}
  };
  note();
  setInterval(note, DAY_MS).unref();
}

/** Returns the names of the entries of FOLDER; [] when they cannot be listed. */
export function namesInFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns the number of milliseconds since PATH was last read or changed. Returns undefined when PATH is not a regular
 * file. */
function unusedTime(path: string): number | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  // Some file systems do not record when a file was read, so the time of the last change counts too.
  return stats?.isFile() ? Date.now() - Math.max(stats.atimeMs, stats.mtimeMs) : undefined;
}

/** Returns true when the process that wrote an incomplete file has ended. PART, from the name of the file, begins with
 * the id of this process. */
function hasEnded(part: string): boolean {
  const writerPid = /^\d+(?=\.|$)/.exec(part)?.[0];
  return writerPid !== undefined && !isRunning(Number(writerPid));
}
