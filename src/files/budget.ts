// Limits the directory entries and the time of a search.

/** The wall-clock limit of a search, as a multiple of the limit of its CPU time. */
const WALL_CLOCK_FACTOR = 3;

/** The remaining resources of a search. `exceeded` is true when it needed more. */
export interface Budget {
  entries: number;
  remainingMs: () => number;
  exceeded?: boolean;
}

/** Returns the budget of a search with ENTRIES directory entries and MS milliseconds. */
export function budgetOf(entries: number, ms: number): Budget {
  return { entries, remainingMs: remainingTime(ms) };
}

/** Returns a function that returns the remaining milliseconds of MS milliseconds of CPU time. Other processes
 *  on the CPU cost a search no time. After WALL_CLOCK_FACTOR times MS of wall-clock time, nothing remains. */
export function remainingTime(ms: number): () => number {
  const cpuDeadline = cpuMs() + ms;
  const wallDeadline = performance.now() + WALL_CLOCK_FACTOR * ms;
  return () => Math.min(cpuDeadline - cpuMs(), wallDeadline - performance.now());
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
