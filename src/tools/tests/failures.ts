// Renders failed tests, with one line for each failure. A line does not repeat what the lines above it show.

import { basename } from 'node:path';
import type { Place, TestFailure } from '../../image/wire/operations.ts';
import { foldedLines } from '../endings.ts';
import { groupBy } from '../grouping.ts';
import type { Places } from '../places.ts';
import { hasNotPassed } from './memory.ts';
import { frequencyText } from './repeated.ts';
import { conditionName, type TestOutcome } from './results.ts';

/** Options for rendering failures. `limit` is the maximum number of failures. `seed` is the seed of the first run. */
export interface Shown {
  limit: number;
  places: Places;
  seed?: number | undefined;
}

/** Returns a function that shortens the name of a test: if all NAMES have the same package prefix, it removes this
 * prefix. */
export function shortNames(names: readonly string[]): (test: string) => string {
  const homes = new Set(names.map((name) => /^[^:( ]+::/.exec(name)?.[0]));
  const [home] = homes;
  return (test) => (homes.size === 1 && home !== undefined ? test.slice(home.length) : test);
}

/** Returns the lines about failed tests, with at most `limit` failures. SHORT shortens the name of a test. */
export function failureLines(
  tests: readonly TestOutcome[],
  { limit, places, seed }: Shown,
  short: (test: string) => string,
): string {
  const files = new ShownFiles();
  const lineAt = (place: Place | undefined): Line | undefined => {
    if (place?.file === undefined) return undefined;
    // Without the column. If a remark follows the line, the whole text becomes the `file`.
    const at = places.locate(place, { name: '' }).replace(/(:\d+):\d+/, '$1');
    const [, file = at, line] = /^(.*?):(\d+)$/.exec(at) ?? [];
    return { file, line };
  };
  const entries = mergedRuns(tests.filter(hasNotPassed)).flatMap((test) => {
    // After its name, a test shows its first failure's line or, if that is in another form, its definition's.
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
  // A larger limit would not show failures of which only the number is known.
  const onlyCounted = rest.every(({ counts }) => counts !== undefined);
  if (more > 0) shown.push(`  ... ${more} more${onlyCounted ? '' : '; limit shows more'}`);
  return shown.join('\n');
}

/** A line about one failure. If `counts` is set, the line says that there are this many further failures. */
interface FailureLine {
  text: string;
  counts?: number;
}

/** Returns TESTS with all outcomes of one test joined to one. In Prove, a check in a loop can be a test that runs
 * several times. */
function mergedRuns(tests: readonly TestOutcome[]): TestOutcome[] {
  const named = new Map<string, TestOutcome>();
  for (const test of tests) {
    const key = `${test.framework} ${test.test}`;
    const before = named.get(key);
    named.set(key, before === undefined ? test : joined(before, test));
  }
  return [...named.values()];
}

function joined(before: TestOutcome, test: TestOutcome): TestOutcome {
  return {
    ...before,
    ...(test.left && { left: true, why: test.why }),
    failures: [...(before.failures ?? []), ...(test.failures ?? [])],
    failed: (before.failed ?? 0) + (test.failed ?? 0),
    errors: (before.errors ?? 0) + (test.errors ?? 0),
  };
}

/** Maximum number of failures of one check that are shown. */
const CHECK_FAILURE_LIMIT = 3;

/** Returns the lines about the failures of TEST. WHERE renders a place. At most CHECK_FAILURE_LIMIT failures of each
 * check are shown, and a line after them gives the number of the others. If all failures are of the same check, this
 * number includes the failures that the image counted without recording them. */
function testLines(test: TestOutcome, where: (place: Place | undefined) => string): FailureLine[] {
  const { failures = [], failed = 0, errors = 0 } = test;
  const checks = [...groupBy(failures, checkKey).values()];
  const isOneCheck = checks.length === 1;
  const lines = checks.flatMap((ofCheck): FailureLine[] => {
    const shown = distinct(ofCheck).slice(0, CHECK_FAILURE_LIMIT);
    const texts = shown.map((failure, index) => ({
      text: againText(failure, shown[index - 1]) ?? wholeText(failure, where),
    }));
    const hidden = isOneCheck ? 0 : ofCheck.length - shown.length;
    return hidden > 0 ? [...texts, { text: `${hidden} more of this check`, counts: hidden }] : texts;
  });
  const unrecorded = failed + errors - failures.length;
  const more = unrecorded + (isOneCheck ? failures.length - lines.length : 0);
  if (more > 0)
    lines.push({
      text: failures.length > 0 ? `${more} more ${more === 1 ? 'failure' : 'failures'}` : `${more} failed`,
      counts: more,
    });
  if (test.left) lines.push({ text: `did not end: ${test.why ?? 'why is not known'}` });
  return lines;
}

function distinct(failures: readonly TestFailure[]): TestFailure[] {
  return [...new Map(failures.map((failure) => [JSON.stringify(failure), failure])).values()];
}

function wholeText(failure: TestFailure, where: (place: Place | undefined) => string): string {
  return [failureText(failure), where(failure.place)].filter(Boolean).join(', ');
}

/** Returns the values of FAILURE, if the line above it shows BEFORE, another failure of the same check. Returns
 * undefined when there is no such failure, or when FAILURE has no value. */
function againText(failure: TestFailure, before: TestFailure | undefined): string | undefined {
  if (before === undefined || failure.got === undefined) return undefined;
  const { expected } = failure;
  const wanted = expected === undefined || expected === before.expected ? '' : `, wanted ${expected}`;
  return `${failure.check === undefined ? '=' : 'got'} ${failure.got}${wanted}`;
}

/** Returns a key that all failures of one check have in common: the failure without its values, as JSON. */
function checkKey({ got: _, expected: __, ...rest }: TestFailure): string {
  return JSON.stringify(rest);
}

/** A line of a file. `file` is the path of the file in the workspace. If `line` is undefined, `file` can be a whole
 * place with a remark. */
interface Line {
  file: string;
  line: string | undefined;
}

/** Shortens the names of files. A file is first named by its path, later by its base name. A second file with the same
 * base name is always named by its path. */
class ShownFiles {
  readonly #names = new Map<string, string>();

  at({ file, line }: Line): string {
    const name = basename(file);
    const known = this.#names.get(name);
    if (known === undefined) this.#names.set(name, file);
    return `${known === file ? name : file}${line === undefined ? '' : `:${line}`}`;
  }
}

/** Returns true when PLACE is in the same top-level form as DEFINITION, the place of a test's definition. */
function isWithin(place: Place | undefined, definition: Place | undefined): boolean {
  return place?.form !== undefined && place.file === definition?.file && place.form === definition?.form;
}

/** Returns the place AT of a failure as text. Leaves out the file and the line that HEAD, the place of its test, shows
 * already. */
function placeText(at: Line | undefined, head: Line | undefined, files: ShownFiles): string {
  if (at === undefined || (at.file === head?.file && at.line === head.line)) return '';
  return at.line !== undefined && at.file === head?.file ? `line ${at.line}` : `at ${files.at(at)}`;
}

/** Maximum number of characters, from the end, that are shown of a test's output. */
const OUTPUT_LIMIT = 300;

function outputText(output = ''): string {
  const text = foldedLines(output).replace(/\s+/g, ' ').trim();
  if (text === '') return '';
  return `\n    wrote: ${text.length > OUTPUT_LIMIT ? `... ${text.slice(-OUTPUT_LIMIT)}` : text}`;
}

/** Returns the text of a failure. Frameworks set different members:
 *  `check` and `got`: `(= 4 (f x)): got 3`
 *  `check`, `type` and `condition`: `(= 4 (f x)) signalled TYPE-ERROR: ...`
 *  `form`, `got` and `expected`, as in RT: `(f x) = 3, wanted 4`
 *  `text`: the message of the framework, which comes first
 *  `type` and `condition` only: `TYPE-ERROR: ...` */
function failureText({ form, check, expected, got, text, type, condition }: TestFailure): string {
  const name = type && conditionName(type);
  const signalled = name && (condition ? `${name}: ${condition}` : name);
  const gave = got === undefined ? signalled : `= ${got}`;
  const evaluated = [form, gave].filter(Boolean).join(got === undefined ? ' signalled ' : ' ');
  const isOnlyText = text !== undefined && got === undefined;
  const came = signalled ? ` signalled ${signalled}` : ' failed';
  const checked = check && (got === undefined ? `${check}${came}` : `${check}: got ${got}`);
  const parts = [
    [text, checked || (isOnlyText ? '' : evaluated)].filter(Boolean).join(': '),
    ...(expected === undefined ? [] : [`wanted ${expected}`]),
    ...(isOnlyText && check === undefined && signalled ? [signalled] : []),
  ];
  return parts.filter((part) => part !== '').join(', ');
}
