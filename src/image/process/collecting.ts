// Decides whether an image that does not react collects garbage or stands still: its own memory tells.

import { closeSync, openSync, readSync } from 'node:fs';

/** Where the runtime of an image keeps whether it collects garbage, and how often it has. */
export interface CollectorAddresses {
  active: number;
  count: number;
}

/** Returns a function that tells whether the process PID collects garbage now or has since it was called last;
 *  undefined where that cannot be seen. */
export function collectorOf(
  pid: number | undefined,
  addresses: CollectorAddresses | undefined,
): () => boolean | undefined {
  let last: number | undefined;
  return () => {
    if (pid === undefined || addresses === undefined) return undefined;
    const [active, count] = octetsAt(pid, [addresses.active, addresses.count]);
    if (active === undefined || count === undefined) return undefined;
    const collected = count !== last;
    last = count;
    return active !== 0 || collected;
  };
}

/** Returns the octets at ADDRESSES in the memory of the process PID, or nothing when the system does not let us look. */
function octetsAt(pid: number, addresses: number[]): number[] {
  let file: number | undefined;
  try {
    file = openSync(`/proc/${pid}/mem`, 'r');
    const octets = Buffer.alloc(addresses.length);
    for (const [index, address] of addresses.entries()) readSync(file, octets, index, 1, address);
    return [...octets];
  } catch {
    return [];
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
