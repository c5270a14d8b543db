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
  const remove = () => removeFolder(folder);
  const release = () => {
    process.off('exit', remove);
    remove();
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
    if (!isKept) release();
  }
}

/** Removes the folder at PATH with its content. Never throws. Files of another user can stay. */
function removeFolder(path: string): void {
  try {
    if (HAS_DESCRIPTORS) removeThroughDescriptor(path, { entries: REMOVAL_LIMIT });
    else rmSync(path, { recursive: true, force: true });
  } catch {}
}

const HAS_DESCRIPTORS = existsSync('/proc/self/fd');
/** Flags that open only a folder, never a link in its place. */
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Maximum number of entries to remove at once, because code in the image can fill the folder, and the server
 *  waits for the removal. The next start of a server removes the rest. */
const REMOVAL_LIMIT = 10_000;

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
export function removeTemporaryFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const creatorPid = /^live-lisp-(\d+)-[A-Za-z0-9]{6}$/.exec(name)?.[1];
    if (creatorPid === undefined || isRunning(Number(creatorPid))) continue;
    removeFolder(join(tmpdir(), name));
  }
}
