// Renders a run of tests: the totals, a line for each failure, and what has changed since the last run.

import type { Ending } from '../../image/wire/endings.ts';
import type { UnsetVariable } from '../../image/wire/operations.ts';
import type { EarlierAnswers } from '../../kernel/earlier-answers.ts';
import { fewOf, joinSections } from '../../kernel/reply.ts';
import { codeName } from '../../source/qualified.ts';
import { splitUnset, unsetLines, unsetNames } from '../agreement.ts';
import { endingText, secondsText } from '../endings.ts';
import { groupBy } from '../grouping.ts';
import type { Places } from '../places.ts';
import { stackLines } from '../stack.ts';
import { failureLines, type Shown, shortNames } from './failures.ts';
import { type ChangedResults, hasNotPassed } from './memory.ts';
import { signalledText, type TestOutcome } from './results.ts';

/** Texts about variables that kept their values when their files were loaded again, although the files now give them
 * other initial values. `which` is for the first line, and `lines` are further lines. Both are '' when there are no
 * such variables. */
export interface UnsetTexts {
  which: string;
  lines: string;
}

/** A test that is still in the image, although its file no longer has it. */
export interface FormerTest {
  test: string;
  file: string;
}

/** A run of tests that has ended. */
export interface TestRunFacts {
  /** The systems or tests that ran, as the subject of the first sentence. */
  what: string;
  tests: readonly TestOutcome[];
  /** The ending of the last round. A run has further rounds when tests end the image or do not finish (see run.ts). */
  ending: Ending;
  milliseconds: number;
  /** The text about the loads before the run. */
  loadNotes: string;
  /** Tests that did not run, and whose coverage is not recorded. */
  unrecorded: readonly string[];
  /** Sentences about images that were lost between two tests. */
  losses: readonly string[];
  /** The texts about variables that kept old values. */
  unsetNotes: UnsetTexts;
}

/** A run of tests, with the facts that its text shows in addition. */
export interface TestRunReport extends TestRunFacts {
  difference: ChangedResults;
  /** A phrase that says when the last run was: `when` of the TestMemory. It is 'before' unless the image is a fresh
   * one. */
  when: string;
  /** Tests that were requested, but that no framework knows any more. */
  gone: readonly string[];
  /** Tests that did not run, because their files no longer have them. */
  former: readonly FormerTest[];
  /** Systems that were tested, but that have no test of a known framework. */
  unseen: readonly string[];
  /** Files that have changed since the image loaded them. */
  stale: readonly string[];
  /** Variables that kept old values in loads. The list may be incomplete. It is for the data of the result; the text
   * has `unsetNotes`. */
  unset: readonly UnsetVariable[];
  /** Tests that ran because code that they cover was changed. */
  changed: readonly string[];
  /** A sentence about runs that were not made; '' when all were made. */
  shortfall: string;
  seed: number | undefined;
  /** A sentence about tests that may not have run, because an earlier test did not finish; '' when there are none. */
  behind: string;
}

/** Returns the text for a run of tests. */
export function runText(report: TestRunReport, shown: Shown): string {
  const { tests, difference, gone, unseen, stale, ending, loadNotes, changed, unrecorded } = report;
  const counts = countsOf(tests);
  const bad = tests.filter(hasNotPassed).map(({ test }) => test);
  const { fixed, fresh, missing } = difference;
  const short = shortNames([...bad, ...fixed, ...fresh, ...missing, ...changed]);
  const unchecked = uncheckedOf(tests);
  const many = unchecked.length === 1 ? '1 test' : `${unchecked.length} tests`;
  const lines = [
    headline(report, counts),
    failureLines(tests, { ...shown, seed: report.seed }, short),
    report.shortfall,
    passedLines(tests),
    namesLine(`${many} checked nothing`, unchecked, shortNames(unchecked)),
    ...report.losses,
    differenceLines(report, counts.failedTests, short),
    goneLine(gone),
    formerLines(report.former),
    unseenLine(unseen),
    staleLine(stale),
    report.unsetNotes.lines,
    namesLine('Also ran, because code that they reached has changed', changed, short),
    unrecordedLine(unrecorded),
    behindText(tests, ending, report.behind),
  ];
  const text = lines.filter((line) => line !== '').join('\n');
  return joinSections([text, frameLines(ending, shown.places), loadNotes]);
}

/** Totals of a test run. */
export interface Counts {
  tests: number;
  checks: number;
  failed: number;
  errors: number;
  skipped: number;
  expected: number;
  failedTests: number;
}

/** Returns the totals of a run with the outcomes TESTS. */
export function countsOf(tests: readonly TestOutcome[]): Counts {
  const sum = (name: 'checks' | 'failed' | 'errors' | 'skipped' | 'expected') =>
    tests.reduce((total, test) => total + (test[name] ?? 0), 0);
  // A test can run several times, with other arguments or called by other tests. It is counted once.
  const named = (some: readonly TestOutcome[]) =>
    new Set(some.map(({ framework, test }) => `${framework} ${test}`)).size;
  return {
    tests: named(tests),
    checks: sum('checks'),
    failed: sum('failed'),
    errors: sum('errors'),
    skipped: sum('skipped'),
    expected: sum('expected'),
    failedTests: named(tests.filter(hasNotPassed)),
  };
}

/** Returns the names of the tests that passed but made no check. */
export function uncheckedOf(tests: readonly TestOutcome[]): string[] {
  const isEmpty = (test: TestOutcome) =>
    !hasNotPassed(test) && [test.checks, test.skipped, test.expected].every((count = 0) => count === 0);
  const others = new Set(tests.filter((test) => !isEmpty(test)).map(({ test }) => test));
  return [...new Set(tests.map(({ test }) => test))].filter((test) => !others.has(test));
}

/** Returns the first line of the text. The line mentions variables that kept old values, because a test that uses them
 * does not show how the program in the files behaves. */
function headline({ what, unsetNotes, milliseconds }: TestRunReport, counts: Counts): string {
  const { tests, checks, skipped, expected, failedTests } = counts;
  const details = [
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(expected > 0 ? [`${expected} failed as expected`] : []),
    secondsText(milliseconds),
  ].join(', ');
  const checksText = checks === tests || checks === 0 ? '' : `${checks} check${checks === 1 ? '' : 's'}, `;
  const all = tests === 1 ? '1 test' : `${tests} tests`;
  const end = `(${checksText}${details})${unsetNotes.which && `, with ${unsetNotes.which}`}.`;
  return failedTests === 0
    ? `${what}: ${all} ${tests === 1 ? 'passes' : 'pass'} ${end}`
    : `${what}: ${failedTests} of ${all} ${failedTests === 1 ? 'fails' : 'fail'} ${end}`;
}

/** Maximum number of names that a line about changes gives. */
const NAME_LIMIT = 10;

/** Returns the lines about changes since the last run. FAILED is the number of failed tests. SHORT shortens the name of
 * a test. */
function differenceLines(
  { difference: { broken, fixed, fresh, missing }, when }: TestRunReport,
  failed: number,
  short: (name: string) => string,
): string {
  return [
    broken.length === failed && failed > 1
      ? `All of these passed ${when}.`
      : namesLine(`Passed ${when}, fail now`, broken, short),
    namesLine(when === 'before' ? 'Fixed' : `Failed ${when}, pass now`, fixed, short),
    namesLine('New', fresh, short),
    namesLine(`Ran ${when}, and not now`, missing, short),
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function namesLine(label: string, names: readonly string[], short: (name: string) => string): string {
  if (names.length === 0) return '';
  return `${label}: ${fewOf(names.map(short), NAME_LIMIT)}`;
}

/** Returns lines about the checks that passed, if the run has only one test and these checks were recorded; else ''. */
function passedLines([test, ...others]: readonly TestOutcome[]): string {
  const { passed = [], checks = 0, failed = 0, errors = 0, skipped = 0, expected = 0 } = test ?? {};
  if (others.length > 0 || passed.length === 0 || checks < 2) return '';
  const listed = passed.reduce((sum, { times }) => sum + times, 0);
  // The image counts passed checks that it does not record.
  const hidden = checks - failed - errors - skipped - expected - listed;
  const rows = passed.map(({ form, times }) => (times === 1 ? form : `${form}, ${times} times`));
  return ['Passed:', ...rows, ...(hidden > 0 ? [`... ${hidden} more`] : [])].join('\n  ');
}

/** Returns a line about tests whose names no framework knows; '' when there are none. */
export function goneLine(names: readonly string[]): string {
  const line = namesLine('Tests that no framework has', names, (name) => name);
  return line && `${line}. To run an unnamed check, test its system.`;
}

/** Returns a line for each file that no longer has some of its tests; '' when there is none. */
export function formerLines(tests: readonly FormerTest[]): string {
  const files = groupBy(tests, ({ file }) => file);
  return [...files]
    .map(([file, its]) =>
      namesLine(
        `Not run, since ${file} no longer has ${its.length === 1 ? 'it' : 'them'}`,
        its.map(({ test }) => test),
        (name) => name,
      ),
    )
    .join('\n');
}

/** Returns a line about tests whose coverage is not recorded; '' when there are none. */
export function unrecordedLine(names: readonly string[]): string {
  const have = names.length === 1 ? '1 test has' : `${names.length} tests have`;
  return namesLine(`${have} not run with coverage`, names, shortNames(names));
}

/** Returns a line about SYSTEMS, which have no test of a known framework; '' when there are none. */
function unseenLine(systems: readonly string[]): string {
  const line = namesLine('No tests recognized in', systems, (name) => name);
  return line && `${line}. run_tests with only that system shows its output.`;
}

/** Returns a line about FILES, which have changed since the image loaded them; '' when there are none. */
function staleLine(files: readonly string[]): string {
  const line = namesLine('Changed, but in no tested system, so not loaded', files, (name) => name);
  return line && `${line}. load_file loads it.`;
}

/** Returns the texts about UNSET, some of the TOTAL variables that kept old values. For a variable that an earlier
 * answer listed with the same value, the texts give only the name. */
export function unsetTexts(
  unset: readonly UnsetVariable[],
  total = unset.length,
  earlierAnswers?: EarlierAnswers,
): UnsetTexts {
  if (total === 0) return { which: '', lines: '' };
  const { before, news } = splitUnset(unset, earlierAnswers);
  const advised = earlierAnswers?.repeats('reset', unset.map(({ name }) => name).join(' ')) ? [] : unset;
  const lines = [...unsetLines(news, total - before.length), resetLine(advised)].filter(Boolean).join('\n');
  const count = total === 1 ? '1 variable' : `${total} variables`;
  const which =
    news.length === 0
      ? `${unsetNames(before, total)} still not as the files say`
      : `${count} not as the files say`;
  return { which, lines };
}

/** Returns a line with the call that sets those of UNSET whose definition gives a value; '' when there are none. */
function resetLine(unset: readonly UnsetVariable[]): string {
  const known = unset.filter(({ says }) => says !== undefined);
  if (known.length === 0) return '';
  const names = known.slice(0, NAME_LIMIT).map(({ name }) => JSON.stringify(codeName(name)));
  const which = known.length > NAME_LIMIT ? `the first ${NAME_LIMIT}` : known.length === 1 ? 'it' : 'them';
  return `To set ${which} before the tests, call run_tests with reset: [${names.join(', ')}].`;
}

/** Returns a text that says how the run ended; '' when it ended normally. BEHIND is a sentence about tests that may not
 * have run (see TestRunReport). If a test did not finish, returns only BEHIND. */
function behindText(tests: readonly TestOutcome[], ending: Ending, behind: string): string {
  if (tests.some(({ left }) => left)) return behind;
  if (ending.kind === 'done') return '';
  // Without the frames, which `frameLines` shows.
  return ending.kind === 'condition'
    ? `After its tests the run signalled ${signalledText(ending.condition)}`
    : [endingText({ ...ending, frames: [] } as Ending), behind].filter(Boolean).join(' ');
}

const FRAME_LIMIT = 3;

function frameLines(ending: Ending, places: Places): string {
  if (ending.kind !== 'interrupted') return '';
  const lines = stackLines(ending, places).slice(0, FRAME_LIMIT);
  return lines.length > 0 ? `It was at:\n${lines.join('\n')}` : '';
}
