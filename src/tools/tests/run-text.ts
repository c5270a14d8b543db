// Renders a run of tests as text: totals, a line for each failure, and changes since the last run.

import type { Ending } from '../../image/wire/endings.ts';
import type { UnsetVariable } from '../../image/wire/operations.ts';
import { fewOf, joinSections } from '../../kernel/reply.ts';
import type { Told as ToldBefore } from '../../kernel/told.ts';
import { codeName } from '../../source/qualified.ts';
import { splitUnset, unsetLines, unsetNames } from '../agreement.ts';
import { endingText, secondsText } from '../endings.ts';
import { groupBy } from '../grouping.ts';
import type { Places } from '../places.ts';
import { stackLines } from '../stack.ts';
import { failureLines, type Shown, shortNames } from './failures.ts';
import { type ChangedResults, hasNotPassed } from './memory.ts';
import { signalledText, type TestOutcome } from './results.ts';

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

/** Returns the totals of TESTS. */
export function countsOf(tests: readonly TestOutcome[]): Counts {
  const sum = (name: 'checks' | 'failed' | 'errors' | 'skipped' | 'expected') =>
    tests.reduce((total, test) => total + (test[name] ?? 0), 0);
  // A test called with several arguments, or by several other tests, is one test.
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

/** Returns the names of the tests that passed without a single check. */
export function uncheckedOf(tests: readonly TestOutcome[]): string[] {
  const isEmpty = (test: TestOutcome) =>
    !hasNotPassed(test) && [test.checks, test.skipped, test.expected].every((count = 0) => count === 0);
  const others = new Set(tests.filter((test) => !isEmpty(test)).map(({ test }) => test));
  return [...new Set(tests.map(({ test }) => test))].filter((test) => !others.has(test));
}

/** Returns the first line of the text. It has the variables with old values, because results that depend
 *  on these variables do not show how the program in the files behaves. */
function headline({ what, unsetSaid, milliseconds }: TestRunReport, counts: Counts): string {
  const { tests, checks, skipped, expected, failedTests } = counts;
  const besides = [
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(expected > 0 ? [`${expected} failed as expected`] : []),
    secondsText(milliseconds),
  ].join(', ');
  const made = checks === tests || checks === 0 ? '' : `${checks} check${checks === 1 ? '' : 's'}, `;
  const of = tests === 1 ? '1 test' : `${tests} tests`;
  const end = `(${made}${besides})${unsetSaid.which && `, with ${unsetSaid.which}`}.`;
  return failedTests === 0
    ? `${what}: ${of} ${tests === 1 ? 'passes' : 'pass'} ${end}`
    : `${what}: ${failedTests} of ${of} ${failedTests === 1 ? 'fails' : 'fail'} ${end}`;
}

/** At most this many names are shown per kind of change. */
const NAMES = 10;

/** Returns the lines on changes since the last run, which was WHEN. FAILED is the number of failed tests,
 *  SHORT shortens their names. */
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

/** Returns a line with LABEL and the first few of the names, each shortened by SHORT; '' when there are no
 *  names. */
function namesLine(label: string, names: readonly string[], short: (name: string) => string): string {
  if (names.length === 0) return '';
  return `${label}: ${fewOf(names.map(short), NAMES)}`;
}

/** A test that the image still has, although its FILE, as it is shown, no longer has it. */
export interface FormerTest {
  test: string;
  file: string;
}

/** A run and its results, as `runText` renders them. */
export interface TestRunReport {
  /** A phrase for the tested things, the subject of the first line. */
  what: string;
  tests: readonly TestOutcome[];
  difference: ChangedResults;
  /** When the tests ran last, as TestMemory has it. */
  when: string;
  /** Tests that were to run again, but that no framework has any more. */
  gone: readonly string[];
  /** Tests that did not run because their file no longer has them. */
  former: readonly FormerTest[];
  /** Tested systems in which no test of a known framework was seen. */
  unseen: readonly string[];
  /** Files that have changed since the image loaded them. */
  stale: readonly string[];
  /** Variables that loads did not set again, perhaps only some of them. */
  unset: readonly UnsetVariable[];
  /** The texts on these in the answer. */
  unsetSaid: UnsetTexts;
  ending: Ending;
  milliseconds: number;
  /** The text about the loads before the run. */
  said: string;
  /** Tests that ran because code that they reached has changed. */
  changed: readonly string[];
  /** Tests that did not run and have no recorded coverage. */
  unrecorded: readonly string[];
  /** Sentences on images that were lost between tests. */
  losses: readonly string[];
  /** The sentence on runs that were not made. */
  shortfall: string;
  /** The seed of the first run. */
  seed: number | undefined;
  /** The sentence on tests that may not have run because an earlier one did not finish. */
  behind: string;
}

/** Returns the text of a run. */
export function runText(told: TestRunReport, shown: Shown): string {
  const { tests, difference, gone, unseen, stale, ending, said, changed, unrecorded } = told;
  const counts = countsOf(tests);
  const bad = tests.filter(hasNotPassed).map(({ test }) => test);
  const { fixed, fresh, missing } = difference;
  const short = shortNames([...bad, ...fixed, ...fresh, ...missing, ...changed]);
  const unchecked = uncheckedOf(tests);
  const many = unchecked.length === 1 ? '1 test' : `${unchecked.length} tests`;
  const lines = [
    headline(told, counts),
    failureLines(tests, { ...shown, seed: told.seed }, short),
    told.shortfall,
    passedLines(tests),
    namesLine(`${many} checked nothing`, unchecked, shortNames(unchecked)),
    ...told.losses,
    differenceLines(told, counts.failedTests, short),
    goneLine(gone),
    formerLines(told.former),
    unseenLine(unseen),
    staleLine(stale),
    told.unsetSaid.lines,
    namesLine('Run too, since what they reached has changed', changed, short),
    unrecordedLine(unrecorded),
    behindText(tests, ending, told.behind),
  ];
  const text = lines.filter((line) => line !== '').join('\n');
  return joinSections([text, frameLines(ending, shown.places), said]);
}

/** Returns lines that list the passed checks of TESTS. Returns '' unless there is exactly one test, it made
 *  at least two checks, and its passed checks were recorded. */
function passedLines([test, ...others]: readonly TestOutcome[]): string {
  const { passed = [], checks = 0, failed = 0, errors = 0, skipped = 0, expected = 0 } = test ?? {};
  if (others.length > 0 || passed.length === 0 || checks < 2) return '';
  const listed = passed.reduce((sum, { times }) => sum + times, 0);
  const hidden = checks - failed - errors - skipped - expected - listed;
  const rows = passed.map(({ form, times }) => (times === 1 ? form : `${form}, ${times} times`));
  return ['Passed:', ...rows, ...(hidden > 0 ? [`... ${hidden} more`] : [])].join('\n  ');
}

/** Returns the line on the tests NAMES that no framework knows by name; '' without any. */
export function goneLine(names: readonly string[]): string {
  const line = namesLine('Tests that no framework knows', names, (name) => name);
  return line && `${line}. To run a check without a name of its own, test its system.`;
}

/** Returns a line for each file on its TESTS that it no longer has; '' without any. */
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

/** Returns the line on the tests NAMES without recorded coverage; '' without any. */
export function unrecordedLine(names: readonly string[]): string {
  const have = names.length === 1 ? '1 test has' : `${names.length} tests have`;
  return namesLine(`${have} not run with coverage`, names, shortNames(names));
}

/** Returns the line on SYSTEMS, in which no test of a known framework was seen; '' without any. */
function unseenLine(systems: readonly string[]): string {
  const line = namesLine('No test was seen of', systems, (name) => name);
  return line && `${line}. run_tests with that system shows what it wrote.`;
}

/** Returns the line on FILES, which have changed since the image loaded them; '' without any. */
function staleLine(files: readonly string[]): string {
  const line = namesLine('Changed, but of no system that was tested, so not loaded', files, (name) => name);
  return line && `${line}. load_file loads it.`;
}

/** The texts of an answer on variables that loads did not set again: WHICH for its headline, and further
 *  LINES. Both are '' when there are no such variables. */
export interface UnsetTexts {
  which: string;
  lines: string;
}

/** Returns texts on the UNSET variables, of which there are TOTAL. Those that TOLD has with the same values,
 *  because an earlier answer reported them, are only named. */
export function unsetTexts(
  unset: readonly UnsetVariable[],
  total = unset.length,
  told?: ToldBefore,
): UnsetTexts {
  if (total === 0) return { which: '', lines: '' };
  const { before, news } = splitUnset(unset, told);
  const advised = told?.repeats('reset', unset.map(({ name }) => name).join(' ')) ? [] : unset;
  const lines = [...unsetLines(news, total - before.length), resetLine(advised)].filter(Boolean).join('\n');
  const old = total === 1 ? '1 variable' : `${total} variables`;
  const which =
    news.length === 0
      ? `${unsetNames(before, total)} still not as the files say`
      : `${old} not as the files say`;
  return { which, lines };
}

/** Returns the line with the call that sets those of the UNSET variables whose definition says a value; ''
 *  without any. */
function resetLine(unset: readonly UnsetVariable[]): string {
  const known = unset.filter(({ says }) => says !== undefined);
  if (known.length === 0) return '';
  const names = known.slice(0, NAMES).map(({ name }) => JSON.stringify(codeName(name)));
  const which = known.length > NAMES ? `the first ${NAMES}` : known.length === 1 ? 'it' : 'them';
  return `To set ${which} before the tests, call run_tests with reset: [${names.join(', ')}].`;
}

/** Returns BEHIND when one of TESTS did not finish, else how the run ended; '' when it ended normally. */
function behindText(tests: readonly TestOutcome[], ending: Ending, behind: string): string {
  if (tests.some(({ left }) => left)) return behind;
  if (ending.kind === 'done') return '';
  return ending.kind === 'condition'
    ? `After its tests the run signalled ${signalledText(ending.condition)}`
    : [endingText({ ...ending, frames: [] } as Ending), behind].filter(Boolean).join(' ');
}

/** At most this many frames of an interrupted run are shown. */
const FRAMES = 3;

function frameLines(ending: Ending, places: Places): string {
  if (ending.kind !== 'interrupted') return '';
  const lines = stackLines(ending, places).slice(0, FRAMES);
  return lines.length > 0 ? `It was at:\n${lines.join('\n')}` : '';
}
