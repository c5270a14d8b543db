// Limits the number of directory entries and the time that a search may use.

/** A search may take this many times its CPU time limit in wall-clock time. */
const WALL_CLOCK_FACTOR = 3;

/** The resources that a search may still use: the number of directory entries that it may read, and the time in
 * milliseconds. `exceeded` is true when the search needed more. */
export interface Budget {
  entries: number;
  remainingMs: () => number;
  exceeded?: boolean;
}

/** Returns the budget of a search that may read ENTRIES directory entries and take MS milliseconds. */
export function budgetOf(entries: number, ms: number): Budget {
  return { entries, remainingMs: remainingTime(ms) };
}

/** Returns a function that returns how many of MS milliseconds of CPU time remain. CPU time is counted, so that other
 * busy processes do not use up the time of a search. When WALL_CLOCK_FACTOR times MS of wall-clock time have passed,
 * the function returns 0 or less. */
export function remainingTime(ms: number): () => number {
  const cpuDeadline = cpuMs() + ms;
  const wallDeadline = performance.now() + WALL_CLOCK_FACTOR * ms;
  return () => Math.min(cpuDeadline - cpuMs(), wallDeadline - performance.now());
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
