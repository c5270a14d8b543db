// Provides temporary folders that are removed when the work with them has ended.

import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from './leftovers.ts';

/** Keeps the folder when the work has returned. Returns the function that removes it. */
export type KeepFolder = () => () => void;

/** Calls WORK with a new folder. Removes the folder when WORK or this process has ended, unless WORK keeps it. */
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

/** Removes the folder at PATH with its content. Never throws: files of another user stay. */
function removeFolder(path: string): void {
  try {
    if (HAS_DESCRIPTORS) removeThroughDescriptor(path);
    else rmSync(path, { recursive: true, force: true });
  } catch {}
}

const HAS_DESCRIPTORS = existsSync('/proc/self/fd');
/** Opens only a folder, never a link that code has put in its place. */
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Removes the folder at PATH through an open descriptor: code in the image writes there too, and must not lead the
 *  removal elsewhere by a link. */
function removeThroughDescriptor(path: string): void {
  const descriptor = openSync(path, FOLDER);
  try {
    const descriptorPath = `/proc/self/fd/${descriptor}`;
    for (const entry of readdirSync(descriptorPath, { withFileTypes: true })) {
      const inner = join(descriptorPath, entry.name);
      if (entry.isDirectory()) removeThroughDescriptor(inner);
      else unlinkSync(inner);
    }
  } finally {
    closeSync(descriptor);
  }
  rmdirSync(path);
}

/** Removes temporary folders of processes that were killed. Never throws. */
export function removeTemporaryFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const creatorPid = /^live-lisp-(\d+)-[A-Za-z0-9]{6}$/.exec(name)?.[1];
    if (creatorPid === undefined || isRunning(Number(creatorPid))) continue;
    removeFolder(join(tmpdir(), name));
  }
}
