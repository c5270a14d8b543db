// Decides how long a file system is waited for, as one of a network can fail to answer, and which are waited for in the main
// thread.

import { lstatSync, type Stats } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SetupError } from '../errors.ts';
import { visibleName } from '../visible.ts';
import { UnreadableFile } from './unreadable.ts';

/** Milliseconds between two looks at whether a step of reading a file was answered, and how many there are before it is given
 *  up. Looks and not time are counted: while the main thread is busy it hears no answer. */
const LOOK_MS = 100;
const LOOKS = 30;

/** Steps without an answer above which no more are begun: each keeps one of the four threads in which Node uses files. */
const SILENT = 2;

/** The folders of files that were given up, as often as a step there has not been answered yet. */
const silent: string[] = [];

/** The steps that are waited for, or were given up, and have not been answered yet. */
const underway = new Set<Promise<unknown>>();

/** What a person does about a file system that does not answer. */
export const SILENCE_REMEDY =
  'Ask the user to mend its mount, or to unmount it (umount -l), or to start the server without it. Then call again';

/** That a step was given up, or not begun, because the file system of FOLDER does not answer. */
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

/** Returns what STEP gives, which uses a file of FOLDER. On a disk of this machine it takes what it takes. Else this throws an
 *  UnansweredError when the file system has not answered in time, and at once while it has not answered an earlier step. When the
 *  process is about to exit it begins nothing, and never resolves. */
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

/** Returns what STEP gives, which puts questions to file systems. Throws a SetupError with a folder whose file system does
 *  not answer. */
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

/** Throws a SetupError unless the file systems of PATHS answer, whatever they answer. */
export async function checkAnswering(paths: Iterable<string>): Promise<void> {
  await orNotAnswering(async () => {
    for (const path of new Set(paths)) {
      await answered(path, () => stat(path)).catch((error: unknown) => {
        if (error instanceof UnansweredError) throw error;
      });
    }
  });
}

/** Returns whether there is something at PATH. Throws an UnansweredError when its file system does not answer. */
export async function isThere(path: string): Promise<boolean> {
  return answered(dirname(path), () =>
    access(path).then(
      () => true,
      () => false,
    ),
  );
}

/** An exit waits for the steps under way: LAST_LOOKS times LAST_LOOK_MS milliseconds at most. */
const LAST_LOOK_MS = 20;
const LAST_LOOKS = 10;

/** Whether the process is about to exit. */
let ending = false;

/** Waits 200 ms at most for the steps under way, and lets no new one begin. Returns whether a step is still unanswered. The
 *  process must then call process.exit(), at which it kills itself: Node waits there for its threads, and one of its threads
 *  waits for the file system. */
export async function beforeExit(): Promise<boolean> {
  for (let looks = 0; underway.size > 0 && looks < LAST_LOOKS; looks++) await pause(LAST_LOOK_MS);
  ending = true;
  process.once('exit', () => {
    if (underway.size > 0) process.kill(process.pid, 'SIGKILL');
  });
  return underway.size > 0;
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
