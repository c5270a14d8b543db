// Decides how a run of tests reads: counts, each failure on a line, and what has changed since the run before.

import type { Ending } from '../../image/wire/endings.ts';
import type { TestFailure } from '../../image/wire/testing.ts';
import { joinSections } from '../../kernel/reply.ts';
import { endingText, secondsText } from '../endings.ts';
import type { Places } from '../places.ts';
import { stackLines } from '../stack.ts';
import { type Difference, isBad } from './memory.ts';
import type { Outcome } from './results.ts';

/** How failures are told: at most LIMIT, with the places that PLACES tell under FEATURES. */
interface Shown {
  limit: number;
  places: Places;
  features: ReadonlySet<string>;
}

/** How many of what there were. */
export interface Counts {
  tests: number;
  checks: number;
  failed: number;
  errors: number;
  skipped: number;
  expected: number;
  failedTests: number;
}

/** Returns how many of what TESTS had. */
export function countsOf(tests: readonly Outcome[]): Counts {
  const sum = (name: 'checks' | 'failed' | 'errors' | 'skipped' | 'expected') =>
    tests.reduce((total, test) => total + (test[name] ?? 0), 0);
  // One that is called with several arguments, or by several others, is one test.
  const named = (some: readonly Outcome[]) =>
    new Set(some.map(({ framework, test }) => `${framework} ${test}`)).size;
  return {
    tests: named(tests),
    checks: sum('checks'),
    failed: sum('failed'),
    errors: sum('errors'),
    skipped: sum('skipped'),
    expected: sum('expected'),
    failedTests: named(tests.filter(isBad)),
  };
}

/** Returns the line that tells of COUNTS of the tests of WHAT, which took MILLISECONDS. */
function headline(what: string, counts: Counts, milliseconds: number): string {
  const { tests, checks, skipped, expected, failedTests } = counts;
  const besides = [
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(expected > 0 ? [`${expected} failed as expected`] : []),
    secondsText(milliseconds),
  ].join(', ');
  const made = checks === tests || checks === 0 ? '' : `${checks} checks, `;
  const of = tests === 1 ? '1 test' : `${tests} tests`;
  return failedTests === 0
    ? `${what}: ${of} ${tests === 1 ? 'passes' : 'pass'} (${made}${besides}).`
    : `${what}: ${failedTests} of ${of} ${failedTests === 1 ? 'fails' : 'fail'} (${made}${besides}).`;
}

/** Returns a function that returns the name of a test without the package that all TESTS have in common. */
function shortNames(tests: readonly { test: string }[]): (test: string) => string {
  const homes = new Set(tests.map(({ test }) => /^[^: ]+::/.exec(test)?.[0]));
  const [home] = homes;
  return (test) => (homes.size === 1 && home !== undefined ? test.slice(home.length) : test);
}

/** Returns the lines that tell of those of TESTS that did not pass, at most LIMIT failures. */
function failureLines(tests: readonly Outcome[], { limit, places, features }: Shown): string {
  const short = shortNames(tests);
  const where = (place: TestFailure['place']) =>
    place?.file === undefined ? '' : places.locate(place, features, { name: '' }).replace(/(:\d+):\d+/, '$1');
  const entries = tests.filter(isBad).flatMap((test) => {
    const at = where(test.definition);
    const head = `${short(test.test)}${at && ` ${at}`}`;
    const told = test.failures ?? [];
    const lines = told.map((failure) => failureText(failure, where(failure.place), at));
    const more = (test.failed ?? 0) + (test.errors ?? 0) - told.length;
    if (more > 0) lines.push(`${more} more`);
    if (test.left) lines.push(`did not end: ${test.why ?? 'why is not known'}`);
    const wrote = outputText(test.output);
    return lines.map((line, index) => `${head}: ${line}${index === lines.length - 1 ? wrote : ''}`);
  });
  const shown = entries.slice(0, limit).map((line) => `  ${line}`);
  const rest = entries.length - shown.length;
  if (rest > 0) shown.push(`  ... ${rest} more; limit shows more`);
  return shown.join('\n');
}

/** Characters of what a test wrote that are told. */
const OUTPUT = 300;

function outputText(output = ''): string {
  const text = output.replace(/\s+/g, ' ').trim();
  if (text === '') return '';
  return `\n    wrote: ${text.length > OUTPUT ? `... ${text.slice(-OUTPUT)}` : text}`;
}

/** Returns what FAILURE at the place AT says, unless that is where its TEST is too. */
function failureText(failure: TestFailure, at: string, test: string): string {
  const { form, expected, got, text, type, condition } = failure;
  const name = type?.replace(/^(?:COMMON-LISP|SB-\w+)::/, '');
  const signalled = name && (condition ? `${name}: ${condition}` : name);
  const gave = got === undefined ? signalled : `= ${got}`;
  const parts = [
    text ?? [form, gave].filter(Boolean).join(got === undefined ? ' signalled ' : ' '),
    ...(expected === undefined ? [] : [`wanted ${expected}`]),
    ...(text !== undefined && signalled ? [signalled] : []),
    ...(at !== '' && at !== test ? [`at ${at}`] : []),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** Names that are told of each kind of change. */
const NAMES = 10;

/** Returns the lines that tell what has changed since the run before. */
function differenceLines({ broken, fixed, fresh }: Difference, tests: readonly Outcome[]): string {
  const short = shortNames(tests);
  return [
    namesLine('Passed before, fail now', broken, short),
    namesLine('Fixed', fixed, short),
    namesLine('New', fresh, short),
  ]
    .filter((line) => line !== '')
    .join('\n');
}

/** Returns the line below LABEL with NAMES, as SHORT has them; empty without any. */
function namesLine(label: string, names: readonly string[], short: (name: string) => string): string {
  if (names.length === 0) return '';
  const more = names.length > NAMES ? ` and ${names.length - NAMES} more` : '';
  return `${label}: ${names.slice(0, NAMES).map(short).join(', ')}${more}`;
}

/** What a run was about, and what came of it. SAID is what was told of loads before. */
interface Told {
  what: string;
  tests: readonly Outcome[];
  difference: Difference;
  gone: readonly string[];
  ending: Ending;
  milliseconds: number;
  said: string;
  /** Tests that ran because what they reached has changed, and those of which it is not known what they reach. */
  changed: readonly string[];
  unrecorded: readonly string[];
  /** There can be tests that a test which did not end kept from running. */
  cutOff: boolean;
}

/** Returns what is told of a run. */
export function runText(told: Told, shown: Shown): string {
  const { what, tests, difference, gone, ending, milliseconds, said, changed, unrecorded, cutOff } = told;
  const lines = [
    headline(what, countsOf(tests), milliseconds),
    failureLines(tests, shown),
    differenceLines(difference, tests),
    goneLine(gone),
    namesLine('Run too, since what they reached has changed', changed, shortNames(tests)),
    unrecordedLine(unrecorded),
    behindText(tests, ending, cutOff),
  ];
  const text = lines.filter((line) => line !== '').join('\n');
  return joinSections([text, frameLines(ending, shown.places), said]);
}

/** Returns the line that tells of the tests NAMES that no framework runs by name; empty without any. */
export function goneLine(names: readonly string[]): string {
  const line = namesLine('No framework has by name', names, (name) => name);
  return line && `${line}. Test their system to run what has no name of its own.`;
}

/** Returns the line that tells of the tests NAMES that no run with coverage has recorded; empty without any. */
export function unrecordedLine(names: readonly string[]): string {
  const have = names.length === 1 ? '1 test has' : `${names.length} tests have`;
  const tests = names.map((test) => ({ test }));
  return namesLine(`${have} not run with coverage`, names, shortNames(tests));
}

/** Returns what is told of how a run of TESTS ended. With CUTOFF others can have been behind the one that did not end. */
function behindText(tests: readonly Outcome[], ending: Ending, cutOff: boolean): string {
  if (ending.kind === 'done') return '';
  if (tests.some(({ left }) => left))
    return cutOff ? 'The run ended there; with isolate: true it goes on with the others.' : '';
  return ending.kind === 'condition'
    ? `After its tests it signalled ${ending.condition.type.replace(/^(?:COMMON-LISP|SB-\w+)::/, '')}: ${ending.condition.text.replace(/\s+/g, ' ')}`
    : endingText({ ...ending, frames: [] } as Ending);
}

/** Frames that are told of a run that was interrupted. */
const FRAMES = 3;

function frameLines(ending: Ending, places: Places): string {
  if (ending.kind !== 'interrupted') return '';
  const lines = stackLines(ending, places).slice(0, FRAMES);
  return lines.length > 0 ? `It was at:\n${lines.join('\n')}` : '';
}
