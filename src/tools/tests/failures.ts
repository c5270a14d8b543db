// Renders failed tests, one failure on each line. A line does not repeat the lines above it.

import { basename } from 'node:path';
import type { Place, TestFailure } from '../../image/wire/operations.ts';
import { foldedLines } from '../endings.ts';
import { groupBy } from '../grouping.ts';
import type { Places } from '../places.ts';
import { hasNotPassed } from './memory.ts';
import { frequencyText } from './repeated.ts';
import { conditionName, type TestOutcome } from './results.ts';

/** Options for showing failures. `seed` is the seed of the first run. */
export interface Shown {
  limit: number;
  places: Places;
  seed?: number | undefined;
}

/** Returns a function that shortens the name of a test. It removes the package prefix when all NAMES have the
 * same one. */
export function shortNames(names: readonly string[]): (test: string) => string {
  const homes = new Set(names.map((name) => /^[^: ]+::/.exec(name)?.[0]));
  const [home] = homes;
  return (test) => (homes.size === 1 && home !== undefined ? test.slice(home.length) : test);
}

/** Returns the lines on failed tests, at most `limit` failures. SHORT shortens the name of a test. */
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
  // A larger limit does not help for failures that are only counted.
  const onlyCounted = rest.every(({ counts }) => counts !== undefined);
  if (more > 0) shown.push(`  ... ${more} more${onlyCounted ? '' : '; limit shows more'}`);
  return shown.join('\n');
}

/** A line on one failure. With `counts`, the line only says that there are this many more failures. */
interface FailureLine {
  text: string;
  counts?: number;
}

/** Merges all runs of a test into one outcome. In Prove, a single check in a loop can be a test. */
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

/** Maximum number of failures of one check to show. */
const OF_ONE_CHECK = 3;

/** Returns the lines on the failures of TEST. WHERE renders a place. Further failures of a check are counted
 * in a line after those shown. When all failures are of one check, the last line also counts failures that
 * the image did not report in detail. */
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

function distinct(failures: readonly TestFailure[]): TestFailure[] {
  return [...new Map(failures.map((failure) => [JSON.stringify(failure), failure])).values()];
}

function wholeText(failure: TestFailure, where: (place: Place | undefined) => string): string {
  return [failureText(failure), where(failure.place)].filter(Boolean).join(', ');
}

/** Returns only the values of FAILURE, for use below BEFORE, another failure of the same check. Returns
 * undefined when there is no such failure or no value. */
function againText(failure: TestFailure, before: TestFailure | undefined): string | undefined {
  if (before === undefined || failure.got === undefined) return undefined;
  const { expected } = failure;
  const wanted = expected === undefined || expected === before.expected ? '' : `, wanted ${expected}`;
  return `${failure.check === undefined ? '=' : 'got'} ${failure.got}${wanted}`;
}

/** Returns a key for all failures of one check: the failure without its values, as JSON. */
function checkKey({ got: _, expected: __, ...rest }: TestFailure): string {
  return JSON.stringify(rest);
}

/** A line of a file. `file` is relative to the workspace. */
interface Line {
  file: string;
  line: string | undefined;
}

/** Shortens file names. The first mention of a file has its path, later ones the base name. A file with the
 * base name of another always has its path. */
class ShownFiles {
  readonly #names = new Map<string, string>();

  at({ file, line }: Line): string {
    const name = basename(file);
    const known = this.#names.get(name);
    if (known === undefined) this.#names.set(name, file);
    return `${known === file ? name : file}${line === undefined ? '' : `:${line}`}`;
  }
}

function isWithin(place: Place | undefined, definition: Place | undefined): boolean {
  return place?.form !== undefined && place.file === definition?.file && place.form === definition?.form;
}

/** Returns the text for AT, the place of a failure, without the parts that HEAD, the place of its test,
 * already shows. */
function placeText(at: Line | undefined, head: Line | undefined, files: ShownFiles): string {
  if (at === undefined || (at.file === head?.file && at.line === head.line)) return '';
  return at.line !== undefined && at.file === head?.file ? `line ${at.line}` : `at ${files.at(at)}`;
}

/** Maximum number of characters of a test's output to show, from its end. */
const OUTPUT = 300;

function outputText(output = ''): string {
  const text = foldedLines(output).replace(/\s+/g, ' ').trim();
  if (text === '') return '';
  return `\n    wrote: ${text.length > OUTPUT ? `... ${text.slice(-OUTPUT)}` : text}`;
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
  const came = signalled ? ` signalled ${signalled}` : ' failed';
  const checked = check && (got === undefined ? `${check}${came}` : `${check}: got ${got}`);
  const parts = [
    [text, checked || (text === undefined || got !== undefined ? evaluated : '')].filter(Boolean).join(': '),
    ...(expected === undefined ? [] : [`wanted ${expected}`]),
    ...(text !== undefined && check === undefined && got === undefined && signalled ? [signalled] : []),
  ];
  return parts.filter((part) => part !== '').join(', ');
}
