// Decides for how long a process was denied the CPU: what it could not do meanwhile proves nothing against it.

import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds on a CPU, and waiting for one. */
interface Spent {
  ran: number;
  waited: number;
}

/** What the system tells of a thread: what it has spent, and whether it runs or waits for a CPU now. */
interface Thread extends Spent {
  ready: boolean;
}

/** Returns a function that tells for how many milliseconds the process PID was denied the CPU since the first call. Each
 *  call judges what lies between the one before and it. Where the system does not tell, that is 0. */
export function deniedTo(pid: number | undefined): () => number {
  let before = new Map<string, Thread>();
  let at: number | undefined;
  let denied = 0;
  return () => {
    const now = performance.now();
    const threads = pid === undefined ? before : threadsOf(pid);
    if (at !== undefined) denied += deniedWithin(now - at, spentWithin(now - at, before, threads));
    before = threads;
    at = now;
    return denied;
  };
}

/** Returns how many of MS milliseconds a process was denied the CPU whose threads together spent them so. Half of the time
 *  divides: one that ran longer could have reacted, and one that waited shorter had nothing to do. */
export function deniedWithin(ms: number, { ran, waited }: Spent): number {
  return waited > ms / 2 && ran < ms / 2 ? ms - ran : 0;
}

/** Returns what threads spent in MS milliseconds, which BEFORE and NOW tell of their begin and end. */
function spentWithin(ms: number, before: Map<string, Thread>, now: Map<string, Thread>): Spent {
  const sum = { ran: 0, waited: 0 };
  for (const [id, thread] of now) {
    const ran = thread.ran - (before.get(id)?.ran ?? 0);
    const waited = thread.waited - (before.get(id)?.waited ?? 0);
    sum.ran += ran;
    // The system adds a time of waiting only when that has ended, so what is not known of a ready thread is such a time.
    sum.waited += thread.ready ? Math.max(waited, ms - ran) : waited;
  }
  return sum;
}

/** Returns the threads of the process PID, by their numbers. */
function threadsOf(pid: number): Map<string, Thread> {
  const folder = `/proc/${pid}/task`;
  try {
    return new Map(readdirSync(folder).map((id) => [id, threadIn(`${folder}/${id}`)]));
  } catch {
    return new Map(); // It or a thread of it has just ended, or the system does not tell.
  }
}

function threadIn(folder: string): Thread {
  const spent = readFileSync(`${folder}/schedstat`, 'latin1').split(' ');
  const [ran = 0, waited = 0] = spent.map((ns) => Number(ns) / 1e6);
  return { ran, waited, ready: readFileSync(`${folder}/stat`, 'latin1').includes(') R ') };
}
