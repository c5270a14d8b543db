// How many cases a fuzzing test tries: a part in `make test`, all of them with LIVE_LISP_LONG=1.

export const LONG = process.env['LIVE_LISP_LONG'] === '1';

/** Returns how many cases a test tries: SHORT, or 10,000 in the long run. */
export function cases(short: number): { numRuns: number; endOnFailure: boolean } {
  return { numRuns: LONG ? 10_000 : short, endOnFailure: !LONG };
}

/** Milliseconds that a test with these cases may take. */
export const PATIENCE_MS = LONG ? 3_600_000 : 120_000;
