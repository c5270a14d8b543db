// Makes the result of a run of tests: its verdict, its data and its text.

import type { CoverageData, TestRunData } from '../../image/wire/operations.ts';
import { joinSections } from '../../kernel/reply.ts';
import type { Result } from '../../kernel/tool.ts';
import type { Places } from '../places.ts';
import { coverageOf, coverageText, lostLine, mergedCoverage } from './coverage.ts';
import type { TestDependencies } from './dependencies.ts';
import { shortNames } from './failures.ts';
import { hasNotPassed } from './memory.ts';
import { shortfallText } from './repeated.ts';
import {
  countsOf,
  type FormerTest,
  runText,
  type TestRunFacts,
  type TestRunReport,
  uncheckedOf,
} from './run-text.ts';
import { needsText } from './without-results.ts';

/** Says which tests run: all tests of `systems`, the test or suite `name`, the tests whose names are in `again`, or all
 * tests of `package`. `seed` makes the sequence of random numbers repeatable. */
export interface TestSelection {
  systems?: string[];
  name?: string;
  again?: string[];
  /** Set when `again` has the tests that reached the definition `name`. `changed` are those tests in `again` that
   * reached other definitions, which have changed. */
  touching?: { name: string; changed: string[] };
  package?: string;
  seed?: number;
}

/** Those arguments of run_tests that say how the tests run. */
export interface How {
  readonly system?: string;
  readonly isolate?: boolean;
  readonly coverage?: boolean;
  readonly limit?: number;
  readonly timeout?: number;
  readonly repeat?: number;
  readonly on_error?: 'end' | 'hold';
}

/** A run that has ended, with at least one test. */
interface EndedRun extends TestRunFacts {
  how: How;
  asked: TestSelection;
  /** The data of the last round. */
  data: TestRunData;
  /** True when an error was held during the run. */
  held: boolean;
  /** Number of complete runs of the tests. */
  madeRuns: number;
  /** The tests of the last, incomplete run that the timeout interrupted. */
  cut: readonly string[];
  /** The coverage of each round. */
  coverage: readonly CoverageData[];
  /** Tests that have no coverage, because the image in which they ran was lost. */
  unmeasured: readonly string[];
}

/** Maximum number of failures, of definitions without coverage, and of names of tests that are shown by default. */
const LIMIT = 20;

/** Returns the result of RUN, and keeps its outcomes for the next run. */
export function reportResult({ places, memory, keepRun }: TestDependencies, run: EndedRun): Result {
  const { what, asked, how, tests, data, ending, milliseconds } = run;
  const { gone = [], unseen = [], stale = [], unset = [], needs = [] } = data;
  // Only a run that came to its end shows which tests a system no longer has.
  const difference = memory.keep(tests, ending.kind === 'done' ? (asked.systems ?? []) : []);
  keepRun?.({
    what,
    milliseconds,
    tests: tests.map((test) => ({ test: test.test, passed: !hasNotPassed(test) })),
  });
  const report: TestRunReport = {
    ...run,
    difference,
    when: memory.when,
    gone,
    former: formerTests(data, places),
    unseen,
    stale: stale.map((file) => places.fileName(file)),
    unset,
    changed: asked.touching?.changed ?? [],
    shortfall: shortfallOf(run),
    seed: asked.seed,
    behind: behindOf(run),
  };
  const covered = how.coverage ? coveredBy(run, places) : undefined;
  const verdict = verdictData(report, {
    ...(asked.touching && { changed: report.changed, unrecorded: report.unrecorded }),
    ...(how.coverage && { coverage: covered?.data }),
  });
  const text = runText(report, { limit: how.limit ?? LIMIT, places });
  return {
    ...verdict,
    text: joinSections([text, needsText(needs, places), covered?.text]),
    failed: verdict.failed || needs.length > 0,
  };
}

/** Returns the data of the result, including the members of MORE, and `failed`, which is true when the run failed. */
function verdictData(
  { tests, difference, former, unseen, stale, unset, ending, losses }: TestRunReport,
  more: object,
): { data: object; failed: boolean } {
  const counts = countsOf(tests);
  const failed = counts.failedTests > 0 || losses.length > 0 || ending.kind !== 'done';
  const data = {
    verdict: failed ? 'fail' : unseen.length > 0 ? 'unknown' : 'pass',
    ...counts,
    ...difference,
    results: tests.map(({ reached: _, ...result }) => result),
    unchecked: uncheckedOf(tests),
    former,
    unseen,
    stale,
    unset,
    ...more,
    ending,
  };
  return { data, failed };
}

/** Returns the tests that did not run, because their file no longer has them. */
export function formerTests({ former = [] }: TestRunData, places: Places): FormerTest[] {
  return former.map(({ test, file }) => ({ test, file: places.fileName(file) }));
}

/** Returns a sentence about runs that were requested and not made; '' when all were made. */
function shortfallOf({ how, ending, madeRuns, cut }: EndedRun): string {
  const { repeat: asked = 1, timeout } = how;
  return shortfallText({
    // Without a timeout, the text about the ending gives the reason.
    made: madeRuns,
    asked,
    timeout: ending.kind === 'done' || cut.length > 0 ? timeout : undefined,
    cut: cut.map(shortNames(cut)),
  });
}

/** Returns a sentence about tests that may not have run because an earlier test did not finish; '' when there are
 * none. The text shows it only when a test was left or the run did not end normally. */
function behindOf({ tests, data, ending, asked, how, held }: EndedRun): string {
  if (asked.name !== undefined && tests.length === 1) return '';
  const ran = new Set([...tests.map(({ test }) => test), ...(data.gone ?? [])]);
  const notRun = (asked.again ?? []).filter((test) => !ran.has(test));
  const which = notRun.length > 0 ? ` Not run: ${notRun.slice(0, LIMIT).join(', ')}.` : '';
  if (ending.kind === 'done') return `Tests after one that ended early may not have run.${which}`;
  if (!how.isolate)
    return `The run ended there; with isolate: true it would continue with the other tests.${which}`;
  return held
    ? `The run ended there: isolate: true has no effect while an error is held in the debugger.${which}`
    : '';
}

function coveredBy({ coverage, unmeasured, how }: EndedRun, places: Places): { data?: object; text: string } {
  if (coverage.length === 0) return { text: 'Coverage is unknown: it was lost with the image.' };
  const covered = coverageOf(mergedCoverage(coverage), places);
  const text = [coverageText(covered, how.limit ?? LIMIT), lostLine(unmeasured)];
  return { data: { ...covered, lost: unmeasured }, text: text.filter(Boolean).join('\n') };
}
