// Reads the state of the garbage collector from the memory of an image's process.

import { closeSync, openSync, readSync } from 'node:fs';

interface CollectorAddresses {
  /** The address of a flag that is set during a collection. */
  active: number;
  /** The address of the heap size at which the next collection begins. Each collection changes the value there. */
  trigger: number;
}

/** Returns a function that returns true when the process PID is collecting garbage, or has collected since the function
 * was last called. It returns undefined when the memory of the process cannot be read. */
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

/** Returns eight octets from each of ADDRESSES in the memory of the process PID; [] when the system denies access. */
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
