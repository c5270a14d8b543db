// Decides whether an image that does not react collects garbage or stands still: its own memory tells.

import { closeSync, openSync, readSync } from 'node:fs';

/** Where the runtime of an image keeps whether it collects garbage, and at which use of the heap it will collect next. */
export interface CollectorAddresses {
  active: number;
  trigger: number;
}

/** Returns a function that tells whether the process PID collects garbage now or has since it was called last;
 *  undefined where that cannot be seen. */
export function collectorOf(
  pid: number | undefined,
  addresses: CollectorAddresses | undefined,
): () => boolean | undefined {
  let last: string | undefined;
  return () => {
    if (pid === undefined || addresses === undefined) return undefined;
    const [active, trigger] = wordsAt(pid, [addresses.active, addresses.trigger]);
    if (active === undefined || trigger === undefined) return undefined;
    const now = trigger.toString('hex');
    const collected = now !== last;
    last = now;
    return active[0] !== 0 || collected;
  };
}

/** Returns eight octets at each of ADDRESSES in the memory of PID, or nothing when the system does not let us look. */
function wordsAt(pid: number, addresses: number[]): Buffer[] {
  let file: number | undefined;
  try {
    const opened = openSync(`/proc/${pid}/mem`, 'r');
    file = opened;
    return addresses.map((address) => {
      const word = Buffer.alloc(8);
      readSync(opened, word, 0, word.length, address);
      return word;
    });
  } catch {
    return [];
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
