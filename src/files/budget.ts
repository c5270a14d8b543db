// Bounds how many entries a search reads, and its time.

/** Limit of a search's wall-clock time, as a multiple of its CPU time: other processes may have the CPU. */
const AT_MOST = 3;

/** What a search may still use up, and whether that was too little. */
export interface Budget {
  entries: number;
  /** Returns the milliseconds left. */
  leftMs: () => number;
  exceeded?: boolean;
}

/** Returns the budget of a search for ENTRIES directory entries and MS milliseconds. */
export function budgetOf(entries: number, ms: number): Budget {
  return { entries, leftMs: patience(ms) };
}

/** Returns a function that returns how many of MS milliseconds are left. It counts CPU time, so that a search that gets
 *  no CPU loses nothing. But nothing is left after AT_MOST times MS of wall-clock time. */
export function patience(ms: number): () => number {
  const limitMs = runMs() + ms;
  const latest = performance.now() + AT_MOST * ms;
  return () => Math.min(limitMs - runMs(), latest - performance.now());
}

/** Returns the CPU time of this process so far, in milliseconds. */
function runMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
