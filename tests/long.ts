// How many cases a test tries: a part in `make test`, all of them with LIVE_LISP_LONG=1.

export const LONG = process.env['LIVE_LISP_LONG'] === '1';

/** Returns how many cases a test tries: SHORT, or in the long run LONG_RUN of them. */
export function cases(short: number, longRun = 10_000): { numRuns: number; endOnFailure: boolean } {
  return { numRuns: LONG ? longRun : short, endOnFailure: !LONG };
}

/** Returns every Nth of ALL, the first of them too; in the long run all. */
export function everyNth<T>(n: number, all: readonly T[]): readonly T[] {
  return all.filter((_, index) => LONG || index % n === 0);
}

/** Milliseconds that a test with these cases may take. Only what stands still takes so long, also on a busy machine. */
export const PATIENCE_MS = LONG ? 3_600_000 : 600_000;
