// Decides where files are put that are gone when the work with them has ended.

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
import { runs } from './leftovers.ts';

/** Keeps a folder when the work with it has returned, until what this returns is called. */
export type KeepFolder = () => () => void;

/** Calls WORK with a new folder, which is removed when it has ended, also by the end of this process. WORK can keep it. */
export async function withTemporaryFolder<Value>(
  work: (folder: string, keep: KeepFolder) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), `live-lisp-${process.pid}-`));
  const remove = () => removeFolder(folder);
  const release = () => {
    process.off('exit', remove);
    remove();
  };
  let kept = false;
  const keep = () => {
    kept = true;
    return release;
  };
  process.once('exit', remove);
  try {
    return await work(folder, keep);
  } finally {
    if (!kept) release();
  }
}

/** Removes the folder at PATH with what is in it. Never throws: what is of another user stays. */
function removeFolder(path: string): void {
  try {
    if (HAS_DESCRIPTORS) removeHeld(path);
    else rmSync(path, { recursive: true, force: true });
  } catch {}
}

const HAS_DESCRIPTORS = existsSync('/proc/self/fd');
/** Only a folder, and no link that code has put in its place. */
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Removes the folder at PATH. It is held open meanwhile: code in the image writes there too, and must not lead this out
 *  of it by a link. */
function removeHeld(path: string): void {
  const descriptor = openSync(path, FOLDER);
  try {
    const held = `/proc/self/fd/${descriptor}`;
    for (const entry of readdirSync(held, { withFileTypes: true })) {
      const inner = join(held, entry.name);
      if (entry.isDirectory()) removeHeld(inner);
      else unlinkSync(inner);
    }
  } finally {
    closeSync(descriptor);
  }
  rmdirSync(path);
}

/** Removes such folders of processes that were killed. Never throws. */
export function removeTemporaryFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const maker = /^live-lisp-(\d+)-[A-Za-z0-9]{6}$/.exec(name)?.[1];
    if (maker === undefined || runs(Number(maker))) continue;
    removeFolder(join(tmpdir(), name));
  }
}
