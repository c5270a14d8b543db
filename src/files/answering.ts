// Times out file systems that do not answer, such as those of a network; only local disks may block the main thread.

import { lstatSync, type Stats } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SetupError } from '../errors.ts';
import { visibleName } from '../visible.ts';

/** Thrown when a file is not read; the message says why, as a clause. */
export class UnreadableFile extends Error {
  override name = 'UnreadableFile';
}

/** Milliseconds between two polls of a pending file operation, and polls until it is given up. Polls count, not time: a
 *  busy main thread cannot see the answer. */
const LOOK_MS = 100;
const LOOKS = 30;

/** While this many given-up operations are pending, none begins: each blocks one of Node's four threads for files. */
const SILENT = 2;

/** The folders of operations that were given up and are still pending, once for each operation. */
const silent: string[] = [];

/** All pending operations, whether still awaited or given up. */
const underway = new Set<Promise<unknown>>();

/** What a person can do about a file system that does not answer. */
export const SILENCE_REMEDY =
  'Ask the user to mend its mount, or to unmount it (umount -l), or to start the server without it. Then call again';

/** Thrown when an operation was given up, or not begun, because the file system of FOLDER does not answer. */
export class UnansweredError extends UnreadableFile {
  readonly folder: string;

  constructor(folder: string, asked: string) {
    super(
      folder === asked
        ? 'its file system does not answer'
        : `the file system of ${visibleName(folder)} does not answer, and no other is asked meanwhile`,
    );
    this.folder = folder;
  }
}

/** Returns the result of STEP, a file operation in FOLDER. On a local disk there is no timeout. Elsewhere this throws
 *  an UnansweredError on a timeout, and at once while `silent` has FOLDER or SILENT entries. When the process is about
 *  to exit it begins nothing, and never resolves. */
export async function answered<Value>(folder: string, step: () => Promise<Value>): Promise<Value> {
  if (near.has(folder)) return step();
  if (ending) return new Promise(() => {});
  const given = silent.includes(folder) ? folder : silent.length >= SILENT ? silent[0] : undefined;
  if (given !== undefined) throw new UnansweredError(given, folder);
  const answer = step();
  const heard = () => void underway.delete(answer);
  underway.add(answer);
  answer.then(heard, heard);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    let looks = 0;
    timer = setInterval(() => {
      looks += 1;
      if (looks < LOOKS) return;
      clearInterval(timer);
      silent.push(folder);
      const spoke = () => void silent.splice(silent.indexOf(folder), 1);
      answer.then(spoke, spoke);
      reject(new UnansweredError(folder, folder));
    }, LOOK_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearInterval(timer);
  }
}

/** Returns the result of STEP, which uses files. Throws a SetupError when a file system does not answer; it names the
 *  folder. */
export async function orNotAnswering<Value>(step: () => Promise<Value>): Promise<Value> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof UnansweredError)) throw error;
    throw new SetupError(
      `The file system of ${visibleName(error.folder)} does not answer. ${SILENCE_REMEDY}.`,
    );
  }
}

/** Throws a SetupError unless the file systems of PATHS answer; a missing file is an answer too. */
export async function checkAnswering(paths: Iterable<string>): Promise<void> {
  await orNotAnswering(async () => {
    for (const path of new Set(paths)) {
      await answered(path, () => stat(path)).catch((error: unknown) => {
        if (error instanceof UnansweredError) throw error;
      });
    }
  });
}

/** True when PATH exists. Throws an UnansweredError when its file system does not answer. */
export async function isThere(path: string): Promise<boolean> {
  return answered(dirname(path), () =>
    access(path).then(
      () => true,
      () => false,
    ),
  );
}

/** On exit, pending operations are polled at most LAST_LOOKS times, every LAST_LOOK_MS milliseconds. */
const LAST_LOOK_MS = 20;
const LAST_LOOKS = 10;

/** Whether the process is about to exit. */
let ending = false;

/** Waits at most 200 ms for pending operations, and lets no new one begin. Returns whether one is still pending. The
 *  process must then call process.exit(), where it kills itself: Node would wait there for its threads, and one of them
 *  waits for the file system. */
export async function beforeExit(): Promise<boolean> {
  for (let looks = 0; underway.size > 0 && looks < LAST_LOOKS; looks++) await pause(LAST_LOOK_MS);
  ending = true;
  process.once('exit', () => {
    if (underway.size > 0) process.kill(process.pid, 'SIGKILL');
  });
  return underway.size > 0;
}

/** Capacity of `near`, the folders known to be on a local disk. */
const NEAR = 20_000;
const near = new Set<string>();

/** True when FILE is known to be on a local disk, which answers soon. */
export function isNear(file: string): boolean {
  return nearStats(file) !== undefined;
}

/** Returns the stats of FILE on a local disk: 'none' when it does not exist, undefined for a link or elsewhere. */
export function nearStats(file: string): Stats | 'none' | undefined {
  if (!near.has(dirname(file))) return undefined;
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    return stats?.isSymbolicLink() ? undefined : (stats ?? 'none');
  } catch {
    return undefined;
  }
}

/** Adds to `near` those folders of FILES that are on a local disk. */
export async function lookWhere(files: Iterable<string>): Promise<void> {
  if (near.size > NEAR) near.clear();
  for (const folder of new Set([...files].map((file) => dirname(file))))
    if (!near.has(folder) && (await isOnDisk(folder))) near.add(folder);
}

/** True when FOLDER, or its nearest existing parent, is on a block device. Other file systems are on a network, in
 *  memory, or made by a program. */
async function isOnDisk(folder: string): Promise<boolean> {
  try {
    const { dev } = await answered(folder, () => stat(folder));
    return process.platform === 'linux' && ((dev >> 8) & 0xfff) !== 0;
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(folder) !== folder;
    return missing && (await isOnDisk(dirname(folder)));
  }
}

/** Returns the real path of FILE, links resolved, or FILE itself when its file system fails or does not answer. */
export async function realPathOf(file: string): Promise<string> {
  return answered(dirname(file), () => realpath(file)).catch(() => file);
}
