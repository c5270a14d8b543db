// Extends a timeout that nobody has chosen by the time for which the image was denied the CPU.

/** The timeout is extended to at most this many times the limit. */
const MAX_FACTOR = 3;

/** Runs STEP after LIMIT_MS milliseconds, plus the time without CPU in their second half and since then, at most twice
 *  LIMIT_MS. DENIED_MS returns the milliseconds without CPU since its first call. Returns the cancel function. */
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
  // The first half is not measured: to look at an image costs more than most calls.
  timer = setTimeout(() => schedule(limitMs / 2, limitMs / 2, deniedMs()), limitMs / 2);
  return () => clearTimeout(timer);
}
