// Decides how much longer things may take here than on an idle machine.

import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { expect } from 'vitest';

/** Returns how many processes want to run at this moment; 0 where the system does not tell. */
function wanting(): number {
  try {
    return Number(/ (\d+)\/\d+ /.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Returns by which factor things may take longer than on an idle machine: as more processes want to run than can. It
 *  counts those of now and of the last minute. */
export function stretch(): number {
  return Math.max(1, Math.max(loadavg()[0] ?? 0, wanting()) / availableParallelism());
}

/** Performs ACTION and returns what that gives. Fails when it took longer than MS milliseconds, stretched. */
export async function within<T>(ms: number, action: () => T | Promise<T>): Promise<T> {
  const before = stretch();
  const began = performance.now();
  const result = await action();
  expect(performance.now() - began).toBeLessThan(ms * Math.max(before, stretch()));
  return result;
}
