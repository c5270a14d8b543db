// Extends a timeout that no user has chosen by the time for which the system denied the image the CPU.

/** The timeout is extended to at most this many times the limit. */
const MAX_FACTOR = 3;

/** Runs STEP after LIMIT_MS milliseconds, plus the time without CPU that is measured from the middle of the
 *  limit on. The extension is at most (MAX_FACTOR - 1) times LIMIT_MS. DENIED_MS returns the milliseconds
 *  without CPU since its first call. Returns a function that cancels the timeout. */
export function fairTimeout(limitMs: number, deniedMs: () => number, step: () => void): () => void {
  let timer: NodeJS.Timeout;
  const schedule = (ms: number, waited: number, before: number) => {
    timer = setTimeout(() => {
      const denied = Math.min(deniedMs() - before, (MAX_FACTOR - 1) * limitMs);
      const remaining = limitMs + denied - waited - ms;
      if (remaining < 1) step();
      else schedule(remaining, waited + ms, before);
    }, ms);
  };
  // Do not measure in the first half: a measurement takes longer than most calls.
  timer = setTimeout(() => schedule(limitMs / 2, limitMs / 2, deniedMs()), limitMs / 2);
  return () => clearTimeout(timer);
}
