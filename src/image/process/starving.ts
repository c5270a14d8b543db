// Measures the time for which the system has denied a process the CPU. A process that is silent in this time
// does not count as hanging.

import { readdirSync, readFileSync } from 'node:fs';

interface CpuTimes {
  /** Milliseconds on a CPU. */
  ran: number;
  /** Milliseconds of waiting for a CPU. */
  waited: number;
}

interface Thread extends CpuTimes {
  ready: boolean;
}

/** Returns a function that returns the milliseconds for which the system has denied the process PID the CPU
 *  since its first call. Each call measures the time since the previous one. Returns 0 where the system has
 *  no such data. */
export function cpuDenialMeter(pid: number | undefined): () => number {
  let previous = new Map<string, Thread>();
  let previousAt: number | undefined;
  let denied = 0;
  return () => {
    const now = performance.now();
    const threads = pid === undefined ? previous : threadsOf(pid);
    if (previousAt !== undefined)
      denied += deniedWithin(now - previousAt, cpuTimesWithin(now - previousAt, previous, threads));
    previous = threads;
    previousAt = now;
    return denied;
  };
}

/** Returns for how many of MS milliseconds the system denied a process the CPU. The times are sums over its
 *  threads. A process that ran for more than half of MS could have reacted, and one that waited for less than
 *  half had nothing to do. For both the result is 0. */
export function deniedWithin(ms: number, { ran, waited }: CpuTimes): number {
  return waited > ms / 2 && ran < ms / 2 ? ms - ran : 0;
}

/** Returns the times for which all threads together ran and waited in the last MS milliseconds, from their
 *  times BEFORE and NOW. */
function cpuTimesWithin(ms: number, before: Map<string, Thread>, now: Map<string, Thread>): CpuTimes {
  const sum = { ran: 0, waited: 0 };
  for (const [id, thread] of now) {
    const ran = thread.ran - (before.get(id)?.ran ?? 0);
    const waited = thread.waited - (before.get(id)?.waited ?? 0);
    sum.ran += ran;
    // The system counts a wait only at its end. So a thread that is ready now counts as waiting for all the
    // time in which it did not run.
    sum.waited += thread.ready ? Math.max(waited, ms - ran) : waited;
  }
  return sum;
}

function threadsOf(pid: number): Map<string, Thread> {
  const folder = `/proc/${pid}/task`;
  try {
    return new Map(readdirSync(folder).map((id) => [id, threadIn(`${folder}/${id}`)]));
  } catch {
    return new Map(); // The process or a thread has just ended, or the system has no such data.
  }
}

function threadIn(folder: string): Thread {
  const spent = readFileSync(`${folder}/schedstat`, 'latin1').split(' ');
  const [ran = 0, waited = 0] = spent.map((ns) => Number(ns) / 1e6);
  return { ran, waited, ready: readFileSync(`${folder}/stat`, 'latin1').includes(') R ') };
}
