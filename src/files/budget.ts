// Bounds how many entries a search reads, and its time.

/** Limit of a search's wall-clock time, as a multiple of its CPU time: other processes may have the CPU. */
const WALL_CLOCK_FACTOR = 3;

/** What a search may still use up, and whether that was too little. */
export interface Budget {
  entries: number;
  /** Returns the milliseconds left. */
  remainingMs: () => number;
  exceeded?: boolean;
}

/** Returns the budget of a search for ENTRIES directory entries and MS milliseconds. */
export function budgetOf(entries: number, ms: number): Budget {
  return { entries, remainingMs: remainingTime(ms) };
}

/** Returns a function that returns how many of MS milliseconds are left. It counts CPU time, so that a search that gets
 *  no CPU loses nothing. But nothing is left after WALL_CLOCK_FACTOR times MS of wall-clock time. */
export function remainingTime(ms: number): () => number {
  const cpuDeadline = cpuMs() + ms;
  const wallDeadline = performance.now() + WALL_CLOCK_FACTOR * ms;
  return () => Math.min(cpuDeadline - cpuMs(), wallDeadline - performance.now());
}

/** Returns the CPU time of this process so far, in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
