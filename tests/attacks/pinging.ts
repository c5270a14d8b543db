// How long the server keeps a client waiting while it does something: by the CPU time of its main thread, so that a busy
// machine changes nothing.

import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Session } from '../harness.ts';

/** Milliseconds of the server's own CPU time that an answer to a ping may take. */
export const PING_MS = 250;

/** How often it is tried again: this process, too, can be late to read an answer. */
const TRIES = 3;

function cpuMs(pid: number): number {
  const [ran] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(ran) / 1e6;
}

/** Calls WORK, and returns the milliseconds of CPU of the slowest ping of SESSION meanwhile. */
export async function slowestPing(session: Session, work: () => Promise<unknown>): Promise<number> {
  let [slowest, done] = [0, false];
  const working = work().finally(() => {
    done = true;
  });
  working.catch(() => {});
  while (!done) {
    const before = cpuMs(session.pid);
    await session.client.ping({ timeout: 600_000 });
    slowest = Math.max(slowest, cpuMs(session.pid) - before);
    await pause(10);
  }
  await working;
  return slowest;
}

/** Returns the same, but the least of some tries when that is above PING_MS. */
export async function surelySlowestPing(session: Session, work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && least > PING_MS; tries++)
    least = Math.min(least, await slowestPing(session, work));
  return least;
}
