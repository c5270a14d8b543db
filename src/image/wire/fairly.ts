// Extends a timeout that no user has chosen by the time in which the system denied the image the CPU.

/** Maximum ratio of an extended timeout to its limit. */
const MAX_FACTOR = 3;

/** Runs STEP after LIMIT_MS milliseconds, plus the time in which the system denies the image the CPU, from
 *  the second half of the limit on. DENIED_MS returns this time, in milliseconds since its first call.
 *  Returns a function that cancels the timeout. */
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
  // DENIED_MS takes longer than most calls, so it is first called after half of the limit.
  timer = setTimeout(() => schedule(limitMs / 2, limitMs / 2, deniedMs()), limitMs / 2);
  return () => clearTimeout(timer);
}
