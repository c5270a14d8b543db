// Measures for how long a process was denied the CPU. Its silence in that time proves nothing against it.

import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds on a CPU, and milliseconds waiting for one. */
interface CpuTimes {
  ran: number;
  waited: number;
}

/** A thread's times, and whether it runs or waits for a CPU now. */
interface Thread extends CpuTimes {
  ready: boolean;
}

/** Returns a function whose value is the milliseconds for which the process PID was denied the CPU since the first
 *  call. Each call judges the time since the previous call. The value is 0 where the system has no such data. */
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

/** Returns for how many of MS milliseconds a process was denied the CPU, given the times of all its threads. The bound
 *  is half of MS: a process that ran longer could have reacted, and one that waited less had nothing to do. */
export function deniedWithin(ms: number, { ran, waited }: CpuTimes): number {
  return waited > ms / 2 && ran < ms / 2 ? ms - ran : 0;
}

/** Returns the times that all threads together spent in MS milliseconds, from the threads BEFORE and NOW. */
function cpuTimesWithin(ms: number, before: Map<string, Thread>, now: Map<string, Thread>): CpuTimes {
  const sum = { ran: 0, waited: 0 };
  for (const [id, thread] of now) {
    const ran = thread.ran - (before.get(id)?.ran ?? 0);
    const waited = thread.waited - (before.get(id)?.waited ?? 0);
    sum.ran += ran;
    // The system adds a wait only when it has ended. So the unaccounted time of a ready thread counts as waiting.
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
