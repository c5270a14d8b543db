// Decides how long a file system is waited for, as one of a network can fail to answer, and which are waited for in the main
// thread.

import { lstatSync, type Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UnreadableFile } from './unreadable.ts';

/** Milliseconds between two looks at whether a step of reading a file was answered, and how many there are before it is given
 *  up. Looks and not time are counted: while the main thread is busy it hears no answer. */
const LOOK_MS = 100;
const LOOKS = 30;

/** Steps without an answer above which no more are begun: each keeps one of the four threads in which Node uses files. */
const SILENT = 2;

/** The folders of files that were given up, as often as a step there has not been answered yet. */
const silent: string[] = [];

/** Returns what STEP gives, which uses a file of FOLDER. On a disk of this machine it takes what it takes. Else this throws an UnreadableFile when the file system has not answered in
 *  time, and at once while it has not answered an earlier step. */
export async function answered<Value>(folder: string, step: () => Promise<Value>): Promise<Value> {
  if (near.has(folder)) return step();
  if (silent.includes(folder) || silent.length >= SILENT) throw unanswered();
  const answer = step();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    let looks = 0;
    timer = setInterval(() => {
      looks += 1;
      if (looks < LOOKS) return;
      clearInterval(timer);
      silent.push(folder);
      const heard = () => void silent.splice(silent.indexOf(folder), 1);
      answer.then(heard, heard);
      reject(unanswered());
    }, LOOK_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearInterval(timer);
  }
}

/** Folders that are on a disk of this machine, and how many are kept. */
const NEAR = 20_000;
const near = new Set<string>();

/** Returns whether FILE is on a disk of this machine, as far as that was looked at. Such a disk answers soon. */
export function isNear(file: string): boolean {
  return nearStats(file) !== undefined;
}

/** Returns what the system tells of FILE when it is near: 'none' when it is not there, undefined when it is not near. */
export function nearStats(file: string): Stats | 'none' | undefined {
  if (!near.has(dirname(file))) return undefined;
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    return stats?.isSymbolicLink() ? undefined : (stats ?? 'none');
  } catch {
    return undefined;
  }
}

/** Looks where FILES are. */
export async function lookWhere(files: Iterable<string>): Promise<void> {
  if (near.size > NEAR) near.clear();
  for (const folder of new Set([...files].map((file) => dirname(file))))
    if (!near.has(folder) && (await isOnDisk(folder))) near.add(folder);
}

/** Returns whether FOLDER, or the folder that would have it, is on a block device. Others are on a network, in memory, or made
 *  by a program. */
async function isOnDisk(folder: string): Promise<boolean> {
  try {
    const { dev } = await answered(folder, () => stat(folder));
    return process.platform === 'linux' && ((dev >> 8) & 0xfff) !== 0;
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(folder) !== folder;
    return missing && (await isOnDisk(dirname(folder)));
  }
}

/** Returns the real path of FILE, with all links resolved. Returns FILE itself when its file system fails or does not answer. */
export async function realPathOf(file: string): Promise<string> {
  return answered(dirname(file), () => realpath(file)).catch(() => file);
}

function unanswered(): UnreadableFile {
  return new UnreadableFile('its file system does not answer');
}
