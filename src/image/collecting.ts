// Decides whether an image that does not react collects garbage or stands still: its own memory tells.

import { closeSync, openSync, readSync } from 'node:fs';

/** Returns whether the process PID, whose runtime keeps a flag at ADDRESS, collects garbage now; undefined
 *  where that cannot be seen. */
export function isCollecting(pid: number, address: number): boolean | undefined {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/mem`, 'r');
    const flag = Buffer.alloc(1);
    return readSync(file, flag, 0, 1, address) === 1 ? flag[0] !== 0 : undefined;
  } catch {
    return undefined; // No /proc, or the system does not let us look.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
