// Measures for how long the system has denied a process the CPU. A process that is silent in this time does
// not count as hanging.

import { readdirSync, readFileSync } from 'node:fs';

/** How long threads ran and waited. */
interface CpuTimes {
  /** Milliseconds for which they ran on a CPU. */
  ran: number;
  /** Milliseconds for which they waited for a CPU. */
  waited: number;
}

/** The times of one thread. */
interface Thread extends CpuTimes {
  /** True when the thread runs or waits for a CPU now. */
  ready: boolean;
}

/** Returns a meter: a function that returns for how many milliseconds the system has denied the process PID
 *  the CPU since the first call of the function. Each call of the function measures the time since its
 *  previous call. It returns 0 where the system has no such data. */
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

/** Returns for how many of MS milliseconds the system denied a process the CPU, from the times of all its
 *  threads together. A process that ran for more than half of MS could have reacted, and a process that
 *  waited for less than half of MS had nothing to do, so the system denied neither of them the CPU. */
export function deniedWithin(ms: number, { ran, waited }: CpuTimes): number {
  return waited > ms / 2 && ran < ms / 2 ? ms - ran : 0;
}

/** Returns how long all threads together ran and waited in the last MS milliseconds, from their times BEFORE
 *  and NOW. */
function cpuTimesWithin(ms: number, before: Map<string, Thread>, now: Map<string, Thread>): CpuTimes {
  const sum = { ran: 0, waited: 0 };
  for (const [id, thread] of now) {
    const ran = thread.ran - (before.get(id)?.ran ?? 0);
    const waited = thread.waited - (before.get(id)?.waited ?? 0);
    sum.ran += ran;
    // The system counts a wait only when it has ended. So a thread that is ready now is taken to have waited
    // for all the time in which it did not run.
    sum.waited += thread.ready ? Math.max(waited, ms - ran) : waited;
  }
  return sum;
}

/** Returns the threads of the process PID by their ids. */
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
