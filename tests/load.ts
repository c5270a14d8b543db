// Decides what counts as time in a test: not that in which this machine had no CPU for it.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';

/** Returns for how many milliseconds since its start this machine let a process wait for a CPU. What its host took away
 *  counts as well. It is 0 where the system does not tell. */
function hinderedMs(): number {
  try {
    const waitedUs = Number(/some .*total=(\d+)/.exec(readFileSync('/proc/pressure/cpu', 'latin1'))?.[1]);
    const stolenTicks = Number(/^cpu +(?:\d+ ){7}(\d+)/.exec(readFileSync('/proc/stat', 'latin1'))?.[1]);
    return waitedUs / 1000 + stolenTicks * 10;
  } catch {
    return 0;
  }
}

/** Returns the milliseconds of a clock that stands while a process waits for a CPU. So a bound on time means the same
 *  whatever else the machine does. */
export function freeMs(): number {
  return performance.now() - hinderedMs();
}

/** Starts a stopwatch, and returns what reads it: the milliseconds since, and those of `freeMs`. */
export function stopwatch(): () => { ms: number; freeMs: number } {
  const [began, beganFree] = [performance.now(), freeMs()];
  return () => ({ ms: performance.now() - began, freeMs: freeMs() - beganFree });
}

/** Performs ACTION and returns what that gives. Fails when it took longer than MS milliseconds of `freeMs`. */
export async function within<T>(ms: number, action: () => T | Promise<T>): Promise<T> {
  const began = freeMs();
  const result = await action();
  expect(freeMs() - began).toBeLessThan(ms);
  return result;
}

/** Starts COUNT processes that want all CPUs, and returns what ends them. Each leads a session, and so gets as large a
 *  share of the CPUs as an image does. */
export function startBusy(count: number): () => void {
  const busy = Array.from({ length: count }, () =>
    spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore', detached: true }),
  );
  return () => busy.forEach((child) => void child.kill('SIGKILL'));
}
