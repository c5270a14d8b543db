// Decides where files are put that are gone when the work with them has ended.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Keeps a folder when the work with it has returned, until what this returns is called. */
export type KeepFolder = () => () => void;

/** Calls WORK with a new folder, which is removed when it has ended, also by the end of this process. WORK can keep it. */
export async function withTemporaryFolder<Value>(
  work: (folder: string, keep: KeepFolder) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'live-lisp-'));
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
