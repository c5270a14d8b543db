// Combines the results of runs when tests are repeated.

import { secondsText } from '../endings.ts';
import { groupBy } from '../grouping.ts';
import { hasNotPassed } from './memory.ts';
import type { Frequency, TestOutcome } from './results.ts';

/** Returns one outcome for each test in RUNS: that of the first run in which the test failed, else that of the last
 * run. `runs` of the outcome says in how many runs the test failed. If there is only one run, returns its outcomes
 * unchanged. */
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

/** Returns the text before the failures of a test that was repeated; '' when it was not. SEED is the seed of the first
 * run. */
export function frequencyText(runs: Frequency | undefined, seed: number | undefined): string {
  if (runs === undefined) return '';
  const { failed, of, first } = runs;
  const seeded = seed === undefined ? '' : `, with seed ${seed + first - 1}`;
  return failed === of
    ? `in all of ${of} runs${seeded}: `
    : `in ${failed} of ${of} runs, first in run ${first}${seeded}: `;
}

/** The numbers of runs that were made and requested. If the timeout, of `timeout` seconds, prevented further runs,
 * `cut` has the tests that it interrupted. If `timeout` is undefined, the ending of the last run shows the reason. */
export interface Shortfall {
  made: number;
  asked: number;
  timeout: number | undefined;
  cut: readonly string[];
}

/** Returns a sentence about the runs that were not made; '' when all were made. */
export function shortfallText({ made, asked, timeout, cut }: Shortfall): string {
  if (asked === 1 || made >= asked) return '';
  const many = `Only ${made} of ${asked} runs ${made === 1 ? 'was' : 'were'} made`;
  if (timeout === undefined) return `${many}.`;
  const where = cut.length === 0 ? '' : `, in ${cut.join(', ')} of run ${made + 1}`;
  return `${many}: the timeout of ${secondsText(timeout * 1000)} expired${where}. A longer timeout allows more.`;
}
