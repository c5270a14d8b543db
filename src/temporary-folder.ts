// Provides temporary folders, which are removed at the end of the work with them.

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

/** A function that keeps the folder after the end of the work. It returns a function that removes the
 *  folder. */
export type KeepFolder = () => () => void;

/** Calls WORK with the path of a new folder. Removes the folder at the end of WORK or this process, unless
 *  WORK keeps it. */
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

/** Removes the folder at PATH with its content. Never throws. Files of another user can stay. */
async function removeFolder(path: string): Promise<void> {
  for (let step = 0; step < STEPS && removeSome(path); step += 1) await otherWork();
}

/** Removes at most REMOVAL_LIMIT entries of the folder at PATH, and the folder if these were all. Returns true
 *  when the limit stopped the removal. Never throws. */
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
/** Flags that open only a folder, never a link in its place. */
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Maximum number of entries to remove at once, because other calls wait meanwhile. */
const REMOVAL_LIMIT = 10_000;
/** Maximum number of such removals, because a process that has outlived its image can fill the folder again and
 *  again. The next start of a server removes the rest. */
const STEPS = 200;

/** Removes the folder at PATH through an open descriptor, because code in the image also writes in the
 *  folder, and could otherwise redirect the removal by a link. Uses up BUDGET, and throws when there are more
 *  entries. */
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

/** Removes temporary folders of killed processes. Never throws. */
export async function removeTemporaryFolders(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const creatorPid = /^live-lisp-(\d+)-[A-Za-z0-9]{6}$/.exec(name)?.[1];
    if (creatorPid === undefined || isRunning(Number(creatorPid))) continue;
    await removeFolder(join(tmpdir(), name));
  }
}
