// Decides how long is waited for what nobody has chosen a limit of: what an image was denied the CPU puts the end off.

/** How many times the limit is waited at most. */
const MOST_TIMES = 3;

/** Takes STEP in LIMIT_MS milliseconds. What was denied in the second half of them, and since then, puts it off: DENIED_MS
 *  returns for how many milliseconds that is. In all it is twice LIMIT_MS at most. Returns what prevents it. */
export function fairly(limitMs: number, deniedMs: () => number, step: () => void): () => void {
  let timer: NodeJS.Timeout;
  const go = (ms: number, waited: number, before: number) => {
    timer = setTimeout(() => {
      const denied = Math.min(deniedMs() - before, (MOST_TIMES - 1) * limitMs);
      const left = limitMs + denied - waited - ms;
      if (left < 1) step();
      else go(left, waited + ms, before);
    }, ms);
  };
  // To look at an image costs more than what most calls take.
  timer = setTimeout(() => go(limitMs / 2, limitMs / 2, deniedMs()), limitMs / 2);
  return () => clearTimeout(timer);
}
