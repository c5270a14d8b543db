// Limits how many directory entries a search reads, and how long it takes.

/** The wall-clock limit of a search, as a multiple of the limit of its CPU time. */
const WALL_CLOCK_FACTOR = 3;

/** The number of entries and the time that a search may still use. EXCEEDED is true if it needed more. */
export interface Budget {
  entries: number;
  remainingMs: () => number;
  exceeded?: boolean;
}

/** Returns the budget of a search that may read ENTRIES directory entries and take MS milliseconds. */
export function budgetOf(entries: number, ms: number): Budget {
  return { entries, remainingMs: remainingTime(ms) };
}

/** Returns a function that returns how many of MS milliseconds of CPU time are left: other processes that use
 *  the CPU cost a search no time. At WALL_CLOCK_FACTOR times MS of wall-clock time, nothing is left. */
export function remainingTime(ms: number): () => number {
  const cpuDeadline = cpuMs() + ms;
  const wallDeadline = performance.now() + WALL_CLOCK_FACTOR * ms;
  return () => Math.min(cpuDeadline - cpuMs(), wallDeadline - performance.now());
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
