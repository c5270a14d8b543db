// Reads in an image's memory whether it collects garbage or hangs.

import { closeSync, openSync, readSync } from 'node:fs';

/** Addresses of two words of SBCL's runtime. ACTIVE: the flag that is set during a collection. TRIGGER: the
 *  heap use at which the next collection begins. */
export interface CollectorAddresses {
  active: number;
  trigger: number;
}

/** Returns a function that returns whether the process PID is collecting garbage now or has collected since
 *  the last call, or undefined where the memory cannot be read. */
export function collectionPoll(
  pid: number | undefined,
  addresses: CollectorAddresses | undefined,
): () => boolean | undefined {
  let lastTrigger: string | undefined;
  return () => {
    if (pid === undefined || addresses === undefined) return undefined;
    const [active, trigger] = wordsAt(pid, [addresses.active, addresses.trigger]);
    if (active === undefined || trigger === undefined) return undefined;
    const now = trigger.toString('hex');
    const collected = now !== lastTrigger;
    lastTrigger = now;
    return active[0] !== 0 || collected;
  };
}

/** Returns eight octets at each of ADDRESSES in the memory of PID; none when the system denies access. */
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
