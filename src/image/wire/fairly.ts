// Extends a timeout that the user has not chosen, when the image waits for a CPU.

/** An extended timeout is at most this many times as long as its limit. */
const MAX_FACTOR = 3;

/** Runs STEP after LIMIT_MS milliseconds, or later if the image has to wait for a CPU. From the second half of this
 * period on, each millisecond of such waiting delays STEP by a millisecond. DENIED_MS returns the number of
 * milliseconds for which the image has waited for a CPU since the first call of DENIED_MS. Returns a function that
 * cancels the timeout. */
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
  // A call of DENIED_MS takes longer than most requests to the image. So the first one is made only after half of the
  // limit.
  timer = setTimeout(() => schedule(limitMs / 2, limitMs / 2, deniedMs()), limitMs / 2);
  return () => clearTimeout(timer);
}
