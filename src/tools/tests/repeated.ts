// Sums up the runs of tests that are repeated.

import { secondsText } from '../endings.ts';
import { groupBy } from '../grouping.ts';
import { hasNotPassed } from './memory.ts';
import type { Frequency, TestOutcome } from './results.ts';

/** Returns outcomes that stand for all RUNS: of each test those of the first run in which it failed, or else of its last
 *  run, with its frequency. Of a single run they are its own. */
export function summedUp(runs: readonly (readonly TestOutcome[])[]): TestOutcome[] {
  const [only = [], ...others] = runs;
  if (others.length === 0) return [...only];
  const all = runs.flatMap((outcomes, index) =>
    [...groupBy(outcomes, ({ framework, test }) => `${framework} ${test}`)].map(([test, its]) => ({
      test,
      run: index + 1,
      its,
    })),
  );
  return [...groupBy(all, ({ test }) => test).values()].flatMap((ofTest) => {
    const failed = ofTest.filter(({ its }) => its.some(hasNotPassed));
    const { run: first = 0, its = [] } = failed[0] ?? ofTest.at(-1) ?? {};
    const runs = { failed: failed.length, of: ofTest.length, first };
    return its.map((test) => ({ ...test, runs }));
  });
}

/** Returns the text before the failures of a test that failed in RUNS; '' when the test was not repeated.
 *  SEED is that of the first run, if it has one. */
export function frequencyText(runs: Frequency | undefined, seed: number | undefined): string {
  if (runs === undefined) return '';
  const { failed, of, first } = runs;
  const seeded = seed === undefined ? '' : `, with seed ${seed + first - 1}`;
  return failed === of
    ? `in all of ${of} runs${seeded}: `
    : `in ${failed} of ${of} runs, first in run ${first}${seeded}: `;
}

/** Why fewer runs were MADE than ASKED for. TIMEOUT is the time limit in seconds that ended them in the
 *  middle of the tests CUT; undefined when the ending of the last run is the reason. */
export interface Shortfall {
  made: number;
  asked: number;
  timeout: number | undefined;
  cut: readonly string[];
}

/** Returns the sentence on runs that were not made; '' when all were. */
export function shortfallText({ made, asked, timeout, cut }: Shortfall): string {
  if (asked === 1 || made >= asked) return '';
  const many = `Only ${made} of ${asked} runs ${made === 1 ? 'was' : 'were'} made`;
  if (timeout === undefined) return `${many}.`;
  const where = cut.length === 0 ? '' : `, in ${cut.join(', ')} of run ${made + 1}`;
  return `${many}: the timeout of ${secondsText(timeout * 1000)} was over${where}. A longer one makes more.`;
}
