// Creates temporary folders for some work, and removes them when the work ends.

import {
  closeSync,
  constants,
  type Dirent,
  existsSync,
  mkdtempSync,
  opendirSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import { isRunning } from './ownership.ts';

/** A function to call when the folder must stay after the end of the work. It returns a function that removes the
 * folder. */
export type KeepFolder = () => () => void;

/** Creates a folder, and calls WORK with its path. Removes the folder when WORK or this process ends, unless WORK calls
 * KEEP. */
export async function withTemporaryFolder<Value>(
  work: (folder: string, keep: KeepFolder) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), `live-lisp-${process.pid}-`));
  const remove = () => void removeSome(folder);
  const release = async () => {
    await removeFolder(folder);
    process.off('exit', remove);
  };
  let isKept = false;
  const keep = () => {
    isKept = true;
    return release;
  };
  process.once('exit', remove);
  try {
    return await work(folder, keep);
  } finally {
    if (!isKept) await release();
  }
}

/** Removes the folder PATH and its content. Never throws. Files of another user may stay. */
async function removeFolder(path: string): Promise<void> {
  for (let step = 0; step < STEP_LIMIT && removeSome(path); step += 1) await otherWork();
}

/** Removes at most REMOVAL_LIMIT entries of the folder PATH, and also the folder if it has no more. Returns true when
 * it stopped because of the limit. Never throws. */
function removeSome(path: string): boolean {
  const budget = { entries: REMOVAL_LIMIT };
  try {
    if (HAS_DESCRIPTORS) removeThroughDescriptor(path, budget);
    else rmSync(path, { recursive: true, force: true });
    return false;
  } catch {
    return budget.entries <= 0;
  }
}

const HAS_DESCRIPTORS = existsSync('/proc/self/fd');
/** Flags with which only a folder is opened, and never a link to one. */
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Maximum number of entries that are removed at once. It is low, because other calls have to wait in this time. */
const REMOVAL_LIMIT = 10_000;
/** Maximum number of times that a part of the folder is removed. A process that has outlived its image may create new
 * files again and again. The next start of a server removes the rest. */
const STEP_LIMIT = 200;

/** Removes the entries of the folder PATH through an open descriptor. Code in the image can write in the folder too,
 * and could otherwise put a link in its place so that other files are removed. Uses up BUDGET, and throws when there
 * are more entries. */
function removeThroughDescriptor(path: string, budget: { entries: number }): void {
  const descriptor = openSync(path, FOLDER);
  try {
    const descriptorPath = `/proc/self/fd/${descriptor}`;
    for (const entry of firstEntries(descriptorPath, budget.entries)) {
      const inner = join(descriptorPath, entry.name);
      budget.entries -= 1;
      if (entry.isDirectory()) removeThroughDescriptor(inner, budget);
      else unlinkSync(inner);
    }
  } finally {
    closeSync(descriptor);
  }
  rmdirSync(path);
}

function firstEntries(path: string, count: number): Dirent[] {
  const folder = opendirSync(path);
  try {
    const found: Dirent[] = [];
    while (found.length < count) {
      const entry = folder.readSync();
      if (entry === null) break;
      found.push(entry);
    }
    return found;
  } finally {
    folder.closeSync();
  }
}

/** Removes the temporary folders that killed processes left. Never throws. */
export async function removeTemporaryFolders(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const creatorPid = /^live-lisp-(\d+)-[A-Za-z0-9]{6}$/.exec(name)?.[1];
    if (creatorPid === undefined || isRunning(Number(creatorPid))) continue;
    await removeFolder(join(tmpdir(), name));
  }
}
