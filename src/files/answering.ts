// Limits the time of operations on file systems that may not answer, such as network file systems. Operations in the
// folders in `localFolders` have no time limit. Only there may a caller access files synchronously, which blocks the
// main thread.

import { lstatSync, type Stats } from 'node:fs';
import { access, lstat, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { SetupError } from '../errors.ts';
import { visibleName } from '../visible.ts';

/** Thrown when a file cannot be read. The message is the reason, as a clause of a sentence. */
export class UnreadableFile extends Error {
  override name = 'UnreadableFile';
}

const POLL_MS = 100;
/** Number of polls after which an operation is given up. Polls are counted, not milliseconds, because an answer cannot
 * be received while the main thread is blocked. */
const POLL_LIMIT = 30;

/** While this number of given-up operations are still pending, no other begins, because each of them blocks one of
 * Node's four file threads. */
const GIVEN_UP_LIMIT = 2;

/** The folders of the given-up operations that are still pending, one element for each operation. */
const givenUp: string[] = [];

/** All pending operations, including those that were given up. */
const pending = new Set<Promise<unknown>>();

const LOCAL_FOLDER_LIMIT = 20_000;
/** Folders that are on local disks. A folder that findLocalFolders has not examined is missing here, and counts as one
 * on another file system. */
const localFolders = new Set<string>();

/** True from shortly before the process exits. */
let exiting = false;

/** Advice for a person when a file system does not answer. */
export const SILENCE_REMEDY =
  'Ask the user to repair that mount, to unmount it (umount -l), or to start the server without that folder. Then call again';

/** Thrown when the file system of `folder` does not answer, so that an operation in the folder REQUESTED was given up
 * or was not begun. */
export class UnresponsiveFolderError extends UnreadableFile {
  readonly folder: string;

  constructor(folder: string, requested: string) {
    super(
      folder === requested
        ? 'its file system does not answer'
        : `the file system of ${visibleName(folder)} does not answer; until it does, live-lisp uses only files on local disks`,
    );
    this.folder = folder;
  }
}

/** Performs STEP, a file operation in FOLDER, and returns its result. On a local disk, waits as long as necessary. On
 * other file systems, throws an UnresponsiveFolderError when there is no answer in time. Throws it at once while
 * `givenUp` contains FOLDER or has GIVEN_UP_LIMIT members. Shortly before the process exits, does not begin STEP, and
 * never resolves. */
export async function withFileTimeout<Value>(folder: string, step: () => Promise<Value>): Promise<Value> {
  if (localFolders.has(folder)) return step();
  if (exiting) return new Promise(() => {});
  const blocking = blockingFolder(folder);
  if (blocking !== undefined) throw new UnresponsiveFolderError(blocking, folder);
  const answer = step();
  const removePending = () => void pending.delete(answer);
  pending.add(answer);
  answer.then(removePending, removePending);
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    let polls = 0;
    timer = setInterval(() => {
      polls += 1;
      if (polls < POLL_LIMIT) return;
      clearInterval(timer);
      givenUp.push(folder);
      const removeGivenUp = () => void givenUp.splice(givenUp.indexOf(folder), 1);
      answer.then(removeGivenUp, removeGivenUp);
      reject(new UnresponsiveFolderError(folder, folder));
    }, POLL_MS);
  });
  try {
    return await Promise.race([answer, timedOut]);
  } finally {
    clearInterval(timer);
  }
}

/** Returns the folder with a given-up operation because of which no operation in FOLDER may begin; undefined when one
 * may begin. */
function blockingFolder(folder: string): string | undefined {
  if (givenUp.includes(folder)) return folder;
  return givenUp.length >= GIVEN_UP_LIMIT ? givenUp[0] : undefined;
}

/** Performs STEP and returns its result. If a file system does not answer, throws a SetupError that names the
 * folder. */
export async function orSetupError<Value>(step: () => Promise<Value>): Promise<Value> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof UnresponsiveFolderError)) throw error;
    throw new SetupError(
      `The file system of ${visibleName(error.folder)} does not answer. ${SILENCE_REMEDY}.`,
    );
  }
}

/** Throws a SetupError when the file system of one of PATHS does not answer. The paths need not exist. */
export async function checkAnswering(paths: Iterable<string>): Promise<void> {
  await orSetupError(async () => {
    for (const path of new Set(paths)) {
      await withFileTimeout(path, () => stat(path)).catch((error: unknown) => {
        if (error instanceof UnresponsiveFolderError) throw error;
      });
    }
  });
}

/** Returns true when PATH exists. Throws an UnresponsiveFolderError when its file system does not answer. */
export function isThere(path: string): Promise<boolean> {
  return succeeds(path, access);
}

/** Like isThere, but also true for a link whose target does not exist. */
export function entryExists(path: string): Promise<boolean> {
  return succeeds(path, lstat);
}

function succeeds(path: string, operation: (path: string) => Promise<unknown>): Promise<boolean> {
  return withFileTimeout(dirname(path), () =>
    operation(path).then(
      () => true,
      () => false,
    ),
  );
}

const LAST_POLL_MS = 20;
const LAST_POLL_LIMIT = (POLL_LIMIT * POLL_MS) / LAST_POLL_MS;

/** Waits until each pending operation on file systems that may not answer is done or given up. On a busy machine, an
 * operation takes some hundred milliseconds on a file system that answers. Resolves with true when some are still
 * pending. */
export async function pendingAtLast(): Promise<boolean> {
  const someAwaited = () => pending.size > givenUp.length;
  for (let polls = 0; someAwaited() && polls < LAST_POLL_LIMIT; polls++) await pause(LAST_POLL_MS);
  return pending.size > 0;
}

/** Like pendingAtLast, but also prevents new operations. While operations are pending, Node never ends by itself,
 * because it waits for their threads. So when this resolves with true, the caller must call process.exit(); a handler
 * of the event 'exit' then kills the process. */
export async function beforeExit(): Promise<boolean> {
  await pendingAtLast();
  exiting = true;
  process.once('exit', () => {
    if (pending.size > 0) process.kill(process.pid, 'SIGKILL');
  });
  return pending.size > 0;
}

/** Returns true when FILE is certainly on a local disk, which always answers soon. */
export function isOnLocalDisk(file: string): boolean {
  return localStats(file) !== undefined;
}

/** If FILE is on a local disk, returns its stats, or 'none' when it does not exist. Returns undefined for a link, and
 * for a file on another file system. */
export function localStats(file: string): Stats | 'none' | undefined {
  if (!localFolders.has(dirname(file))) return undefined;
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    return stats?.isSymbolicLink() ? undefined : (stats ?? 'none');
  } catch {
    return undefined;
  }
}

/** Adds those folders of FILES that are on local disks to `localFolders`. */
export async function findLocalFolders(files: Iterable<string>): Promise<void> {
  if (localFolders.size > LOCAL_FOLDER_LIMIT) localFolders.clear();
  for (const folder of new Set([...files].map((file) => dirname(file))))
    if (!localFolders.has(folder) && (await isOnBlockDevice(folder))) localFolders.add(folder);
}

/** Returns true when FOLDER, or its nearest existing parent, is on a block device. Other file systems are on a network,
 * in memory, or implemented by a program. */
async function isOnBlockDevice(folder: string): Promise<boolean> {
  try {
    const { dev } = await withFileTimeout(folder, () => stat(folder));
    // Bits 8 to 19 are the major device number. Linux gives 0 to a file system that is on no block device.
    return process.platform === 'linux' && ((dev >> 8) & 0xfff) !== 0;
  } catch (error) {
    const parent = dirname(folder);
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return isMissing && parent !== folder && (await isOnBlockDevice(parent));
  }
}

/** Returns the real path of FILE. Returns FILE itself when the file system fails or does not answer. */
export async function realPathOf(file: string): Promise<string> {
  return withFileTimeout(dirname(file), () => realpath(file)).catch(() => file);
}
