// Measures for how long a process was starved of CPU time: it was ready to run, but the system gave the CPUs to other
// processes. A process that does not react during this time does not count as hanging.

import { readdirSync, readFileSync } from 'node:fs';

interface CpuTimes {
  /** Number of milliseconds for which a thread ran on a CPU. */
  ran: number;
  /** Number of milliseconds for which a thread was ready to run, but waited for a CPU. */
  waited: number;
}

interface Thread extends CpuTimes {
  ready: boolean;
}

/** Returns a function that returns the number of milliseconds for which the process PID has waited for a CPU since the
 * first call of this function; 0 on a system without such data. */
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

/** Returns for how many of the last MS milliseconds a process was starved of CPU time. `ran` and `waited` are sums over
 * its threads. Returns 0 when the process ran for at least half of MS, because it could have reacted. Returns 0 also
 * when it waited for at most half of MS, because it had nothing to do. */
export function deniedWithin(ms: number, { ran, waited }: CpuTimes): number {
  return waited > ms / 2 && ran < ms / 2 ? ms - ran : 0;
}

/** Returns how long the threads of a process ran and waited during the last MS milliseconds, as sums over all threads.
 * BEFORE and NOW have the times of each thread at the beginning and at the end of this period, by the thread's id. */
function cpuTimesWithin(ms: number, before: Map<string, Thread>, now: Map<string, Thread>): CpuTimes {
  const sum = { ran: 0, waited: 0 };
  for (const [id, thread] of now) {
    const ran = thread.ran - (before.get(id)?.ran ?? 0);
    const waited = thread.waited - (before.get(id)?.waited ?? 0);
    sum.ran += ran;
    // The system counts a wait only when it has ended. So a thread that is ready now counts as waiting for all the time
    // in which it did not run.
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
