// Decides how much a search may look at, and for how long.

/** How many times as long a search may take where other processes have the CPU. */
const AT_MOST = 3;

/** How much a search may look at, and whether that was too little. */
export interface Budget {
  entries: number;
  /** Returns the milliseconds that are left. */
  leftMs: () => number;
  exceeded?: boolean;
}

/** Returns the budget of a search that may look at so many ENTRIES of directories, for MS milliseconds. */
export function budgetOf(entries: number, ms: number): Budget {
  return { entries, leftMs: patience(ms) };
}

/** Returns what tells how many milliseconds are left of MS that begin now. They are those of the CPU: a search that is denied
 *  it has done nothing wrong. By the clock they are AT_MOST times as many. */
export function patience(ms: number): () => number {
  const limitMs = runMs() + ms;
  const latest = performance.now() + AT_MOST * ms;
  return () => Math.min(limitMs - runMs(), latest - performance.now());
}

/** Returns for how many milliseconds this process has run. */
function runMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
