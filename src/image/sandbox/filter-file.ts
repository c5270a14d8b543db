// Puts the filter of system calls where bubblewrap can read it: in an unlinked file that this process holds open.

import { randomUUID } from 'node:crypto';
import { openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { cacheUsable } from '../process/agent.ts';
import { systemCallFilter } from './system-calls.ts';

let descriptor: number | undefined;

/** Returns the path, in /proc, of an open file with the filter; children of this process can open it. The file is made
 *  once, in CACHE_FOLDER or else in /dev/shm: sandboxed code can write in neither. Throws a SetupError when it cannot
 *  be made. */
export function filterFile(cacheFolder: string): string {
  descriptor ??= makeFile(cacheUsable(cacheFolder) ? cacheFolder : '/dev/shm');
  return `/proc/${process.pid}/fd/${descriptor}`;
}

function makeFile(folder: string): number {
  const path = join(folder, `filter-${randomUUID()}`);
  try {
    const file = openSync(path, 'wx+', 0o600);
    unlinkSync(path);
    writeSync(file, systemCallFilter() ?? Buffer.alloc(0));
    return file;
  } catch (error) {
    throw new SetupError(
      `The sandbox cannot be made: no file can be made in ${folder} (${String(error)}). Set XDG_CACHE_HOME to a folder of yours.`,
    );
  }
}
