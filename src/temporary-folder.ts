// Decides where files are put that are gone when the work with them has ended.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Keeps a folder when the work with it has returned, until what this returns is called. */
export type KeepFolder = () => () => void;

/** Calls WORK with a new folder, which is removed when it has ended, also by the end of this process. WORK can keep it. */
export async function withTemporaryFolder<Value>(
  work: (folder: string, keep: KeepFolder) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), `live-lisp-${process.pid}-`));
  const remove = () => rmSync(folder, { recursive: true, force: true });
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

/** Removes such folders of processes that were killed. Never throws. */
export function removeTemporaryFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const maker = /^live-lisp-(\d+)-[A-Za-z0-9]{6}$/.exec(name)?.[1];
    if (maker === undefined || runs(Number(maker))) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // That of another user stays.
    }
  }
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
