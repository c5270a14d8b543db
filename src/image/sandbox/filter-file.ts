// Decides where bubblewrap reads the filter of system calls: from a file without a name, which this process has open.

import { randomUUID } from 'node:crypto';
import { openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { cacheUsable } from '../process/agent.ts';
import { systemCallFilter } from './system-calls.ts';

let descriptor: number | undefined;

/** Returns the path of a file with the filter, which children of this process can open. It is made in CACHE_FOLDER, or
 *  in the memory that programs share: code in a sandbox writes in neither. Throws a SetupError where it can be made in
 *  none. */
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
