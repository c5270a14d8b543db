// Renders the tests that did not pass, one failure per line. A line does not repeat what the lines above it
// show.

import { basename } from 'node:path';
import type { Place, TestFailure } from '../../image/wire/operations.ts';
import { foldedLines } from '../endings.ts';
import { groupBy } from '../grouping.ts';
import type { Places } from '../places.ts';
import { hasNotPassed } from './memory.ts';
import { frequencyText } from './repeated.ts';
import { conditionName, type TestOutcome } from './results.ts';

/** How failures are shown: at most LIMIT of them, with places that PLACES renders. SEED is that of the first run. */
export interface Shown {
  limit: number;
  places: Places;
  seed?: number | undefined;
}

/** Returns a function that shortens the name of a test: it removes the package prefix, if all NAMES have the
 *  same one. */
export function shortNames(names: readonly string[]): (test: string) => string {
  const homes = new Set(names.map((name) => /^[^: ]+::/.exec(name)?.[0]));
  const [home] = homes;
  return (test) => (homes.size === 1 && home !== undefined ? test.slice(home.length) : test);
}

/** Returns the lines on those of TESTS that did not pass, at most LIMIT failures. SHORT shortens the name of
 *  a test. */
export function failureLines(
  tests: readonly TestOutcome[],
  { limit, places, seed }: Shown,
  short: (test: string) => string,
): string {
  const files = new ShownFiles();
  const lineAt = (place: Place | undefined): Line | undefined => {
    if (place?.file === undefined) return undefined;
    const at = places.locate(place, { name: '' }).replace(/(:\d+):\d+/, '$1');
    const [, file = at, line] = /^(.*?):(\d+)$/.exec(at) ?? [];
    return { file, line };
  };
  const entries = mergedRuns(tests.filter(hasNotPassed)).flatMap((test) => {
    const first = test.failures?.[0]?.place;
    const head = lineAt(isWithin(first, test.definition) ? first : test.definition);
    const name = `  ${short(test.test)}${head ? ` ${files.at(head)}` : ''}: ${frequencyText(test.runs, seed)}`;
    const lines = testLines(test, (place) => placeText(lineAt(place), head, files));
    const wrote = outputText(test.output);
    return lines.map((line, index) => ({
      ...line,
      text: `${index === 0 ? name : '    '}${line.text}${index === lines.length - 1 ? wrote : ''}`,
    }));
  });
  const shown = entries.slice(0, limit).map(({ text }) => text);
  const rest = entries.slice(limit);
  const more = rest.reduce((sum, { counts = 1 }) => sum + counts, 0);
  // A larger limit shows no more of failures that a line only counts.
  const onlyCounted = rest.every(({ counts }) => counts !== undefined);
  if (more > 0) shown.push(`  ... ${more} more${onlyCounted ? '' : '; limit shows more'}`);
  return shown.join('\n');
}

/** A line about one failure. With COUNTS, a line that only says that there are this many more failures. */
interface FailureLine {
  text: string;
  counts?: number;
}

/** Returns TESTS with all runs of one test merged into one outcome. In Prove, a single check can be a
 *  test, which a loop repeats. */
function mergedRuns(tests: readonly TestOutcome[]): TestOutcome[] {
  const named = new Map<string, TestOutcome>();
  for (const test of tests) {
    const key = `${test.framework} ${test.test}`;
    const { failures = [], failed = 0, errors = 0, ...before } = named.get(key) ?? test;
    const again = named.has(key);
    named.set(key, {
      ...before,
      ...(again && test.left && { left: true, why: test.why }),
      failures: again ? [...failures, ...(test.failures ?? [])] : failures,
      failed: failed + (again ? (test.failed ?? 0) : 0),
      errors: errors + (again ? (test.errors ?? 0) : 0),
    });
  }
  return [...named.values()];
}

/** At most this many failures of one check are shown. */
const OF_ONE_CHECK = 3;

/** Returns the lines about the failures of TEST. WHERE renders a place. At most OF_ONE_CHECK failures of
 *  each check have lines. The others are counted: in a line behind those of their check or, when all
 *  failures are of one check, in the last line, together with the failures that the image has only
 *  counted. */
function testLines(test: TestOutcome, where: (place: Place | undefined) => string): FailureLine[] {
  const { failures = [], failed = 0, errors = 0 } = test;
  const checks = [...groupBy(failures, checkKey).values()];
  let counted = failed + errors - failures.length;
  const lines = checks.flatMap((ofCheck): FailureLine[] => {
    const shown = distinct(ofCheck).slice(0, OF_ONE_CHECK);
    const hidden = ofCheck.length - shown.length;
    const texts = shown.map((failure, index) => ({
      text: againText(failure, shown[index - 1]) ?? wholeText(failure, where),
    }));
    if (checks.length === 1) counted += hidden;
    else if (hidden > 0) return [...texts, { text: `${hidden} more of this check`, counts: hidden }];
    return texts;
  });
  if (counted > 0)
    lines.push({
      text:
        failures.length > 0
          ? `${counted} more ${counted === 1 ? 'failure' : 'failures'}`
          : `${counted} failed`,
      counts: counted,
    });
  if (test.left) lines.push({ text: `did not end: ${test.why ?? 'why is not known'}` });
  return lines;
}

/** Returns FAILURES without duplicates. */
function distinct(failures: readonly TestFailure[]): TestFailure[] {
  return [...new Map(failures.map((failure) => [JSON.stringify(failure), failure])).values()];
}

function wholeText(failure: TestFailure, where: (place: Place | undefined) => string): string {
  return [failureText(failure), where(failure.place)].filter(Boolean).join(', ');
}

/** Returns a short text for FAILURE when the line above it shows BEFORE, another failure of the same check,
 *  as in a loop. The text has only the values. Returns undefined when BEFORE is undefined, or when FAILURE
 *  has no value to show. */
function againText(failure: TestFailure, before: TestFailure | undefined): string | undefined {
  if (before === undefined || failure.got === undefined) return undefined;
  const { expected } = failure;
  const wanted = expected === undefined || expected === before.expected ? '' : `, wanted ${expected}`;
  return `${failure.check === undefined ? '=' : 'got'} ${failure.got}${wanted}`;
}

/** Returns a key that is the same for all failures of one check: the failure without its values, as JSON. */
function checkKey({ got: _, expected: __, ...rest }: TestFailure): string {
  return JSON.stringify(rest);
}

/** A line of a file. FILE is as the answer shows it, relative to the workspace. */
interface Line {
  file: string;
  line: string | undefined;
}

/** Shortens file names: the first mention of a file shows its path, later ones only its base name. A file
 *  with the same base name as an earlier one is always shown with its path. */
class ShownFiles {
  readonly #names = new Map<string, string>();

  /** Returns LINE as FILE:LINE, shortened when possible. */
  at({ file, line }: Line): string {
    const name = basename(file);
    const known = this.#names.get(name);
    if (known === undefined) this.#names.set(name, file);
    return `${known === file ? name : file}${line === undefined ? '' : `:${line}`}`;
  }
}

/** True when PLACE is in the same top-level form as DEFINITION. */
function isWithin(place: Place | undefined, definition: Place | undefined): boolean {
  return place?.form !== undefined && place.file === definition?.file && place.form === definition?.form;
}

/** Returns the text for AT, the place of a failure, without what HEAD, the place of its test, already
 *  shows. */
function placeText(at: Line | undefined, head: Line | undefined, files: ShownFiles): string {
  if (at === undefined || (at.file === head?.file && at.line === head.line)) return '';
  return at.line !== undefined && at.file === head?.file ? `line ${at.line}` : `at ${files.at(at)}`;
}

/** At most this many characters of a test's output are shown, from its end. */
const OUTPUT = 300;

function outputText(output = ''): string {
  const text = foldedLines(output).replace(/\s+/g, ' ').trim();
  if (text === '') return '';
  return `\n    wrote: ${text.length > OUTPUT ? `... ${text.slice(-OUTPUT)}` : text}`;
}

/** Returns the text of FAILURE, in a form that depends on the members that its framework gives. CHECK and
 *  GOT: `(= 4 (f x)): got 3`; with a signalled condition: `(= 4 (f x)) signalled TYPE-ERROR: ...`. FORM, GOT
 *  and EXPECTED, as RT has them: `(f x) = 3, wanted 4`. TEXT alone: the framework's message; with CHECK or
 *  GOT it stands before these. Only TYPE and CONDITION, of an unexpected error: `TYPE-ERROR: ...`. */
function failureText({ form, check, expected, got, text, type, condition }: TestFailure): string {
  const name = type && conditionName(type);
  const signalled = name && (condition ? `${name}: ${condition}` : name);
  const gave = got === undefined ? signalled : `= ${got}`;
  const evaluated = [form, gave].filter(Boolean).join(got === undefined ? ' signalled ' : ' ');
  const came = signalled ? ` signalled ${signalled}` : ' failed';
  const checked = check && (got === undefined ? `${check}${came}` : `${check}: got ${got}`);
  const parts = [
    [text, checked || (text === undefined || got !== undefined ? evaluated : '')].filter(Boolean).join(': '),
    ...(expected === undefined ? [] : [`wanted ${expected}`]),
    ...(text !== undefined && check === undefined && got === undefined && signalled ? [signalled] : []),
  ];
  return parts.filter((part) => part !== '').join(', ');
}
