// Decides how it reads what a change of a definition would break.

import { fittingRows, joinSections, listText } from '../../kernel/reply.ts';
import type { CheckedCall, CheckedCalls } from './call-checks.ts';
import { type BrokenInstances, type ChangedFunction, usesOf } from './class-changes.ts';
import type { NamingFile } from './impact-besides.ts';

interface Located {
  name?: string;
  at: string;
  text: string;
  why?: string;
}

export interface Impact extends Partial<CheckedCalls> {
  name: string;
  kind?: string;
  class?: string;
  lambdaList?: string;
  /** Whether calls were checked against a new lambda list. */
  checked: boolean;
  /** Whether the new definition is of a method. */
  ofMethod: boolean;
  recompile: { why: string; names: string[] };
  methods: Located[];
  accessors: ChangedFunction[];
  made: BrokenInstances;
  /** Where sources name it, when it is a type. */
  typeUses?: Located[] | undefined;
  slots?: string[];
  subclassCount?: number;
  subclasses?: Located[];
  instances?: number;
  testSystems?: number;
  testsMore?: boolean;
  tests: Located[];
  testCount: number;
  /** Names of the tests that reached it in a run with coverage, when it was measured there. */
  recorded?: string[] | undefined;
  /** How its definitions read, each with its place. */
  texts: string[];
  unloaded: NamingFile[];
  /** Files of tests that name it, when no test is known to reach it. */
  testsNaming: NamingFile[];
}

const NO_TYPE_USES =
  'SBCL records no uses of a type. Code that was compiled with this one keeps it until it is compiled again.';

/** Tests that are told unless more are asked for. */
const TESTS = 5;

/** Returns how IMPACT reads, with at most LIMIT rows of each kind. ASKED is the limit that was given, which holds for tests
 *  too. */
export function impactText(impact: Impact, limit: number, asked = TESTS): string {
  const { name, kind, lambdaList, recompile } = impact;
  const section = (header: string, rows: string[], total: number | string = rows.length) =>
    rows.length > 0 && `${header} (${total}):\n${boundList(rows, limit, parseInt(String(total), 10))}`;
  return joinSections([
    `${name} [${kind ?? impact.class ?? 'TYPE'}]${kind ? ` ${lambdaList ?? 'arguments not recorded'}` : ''}`,
    ...callSections(impact, section),
    section(`To compile again, as ${recompile.why}`, recompile.names),
    section('Methods that would not agree with the generic function', impact.methods.map(locatedText)),
    ...impact.accessors.flatMap((each) => accessorSection(each, section)),
    section('Instances made with what is gone', impact.made.unfit.map(callText)),
    section('Cannot be told of instances', impact.made.unknown.map(callText)),
    typeText(impact, section),
    classText(impact),
    section('Subclasses', (impact.subclasses ?? []).map(locatedText), impact.subclassCount ?? 0),
    testSection(impact, asked),
    recordedText(impact.recorded, asked),
    unloadedText(impact.unloaded, limit),
    ...impact.texts,
  ]);
}

/** Calls of one function that are told when it has changed. */
const UNFIT = 20;

/** Returns which CALLS of a function no longer fit it, or nothing when all do. */
export function unfitText({ name, calls, unfit, perhaps }: { name: string } & CheckedCalls): string {
  const section = (header: string, rows: CheckedCall[], of = '') =>
    rows.length > 0 &&
    `${header} (${rows.length}${of}):\n${boundList(rows.map(callText), UNFIT, rows.length)}`;
  return joinSections([
    section(`Calls that no longer fit ${name}`, unfit, ` of ${calls}`),
    section(`What would not fit ${name}, if it is a call`, perhaps),
  ]);
}

type Section = (header: string, rows: string[], total?: number | string) => string | false;

function callSections(impact: Impact, section: Section): (string | false)[] {
  const { kind, checked, ofMethod, calls = 0, unfit = [], unknown = [], perhaps = [] } = impact;
  if (kind === undefined) return [];
  if (ofMethod)
    return [
      `Calls go by the lambda list of the generic function, which stays: ${counted(calls)}.`,
      checked && section('No longer fit', unfit.map(callText), `${unfit.length} of ${counted(calls)}`),
      checked && section('Cannot be told', unknown.map(callText)),
    ];
  const uses = calls + unknown.length;
  if (uses + perhaps.length === 0) return ['No calls are known.'];
  return [
    !checked && `${counted(calls)} with known arguments. Give lambda_list or definition to check.`,
    checked && calls > 0 && unfit.length === 0 && `${counted(calls)} with known arguments: all fit.`,
    section('No longer fit', unfit.map(callText), `${unfit.length} of ${counted(calls)}`),
    section('Cannot be told', unknown.map(callText)),
    section("Would not fit, if it is a call: not in SBCL's cross references", perhaps.map(callText)),
  ];
}

function accessorSection(each: ChangedFunction, section: Section) {
  const { name, gone, kept, unfit, calls } = each;
  if (!gone)
    return [section(`No longer fit ${name}`, unfit.map(callText), `${unfit.length} of ${counted(calls)}`)];
  const loss = kept ? `${name} would no longer take instances of it` : `${name} would be gone`;
  return [section(`${loss}. Its uses`, usesOf(each).map(callText)) || `${loss}; nobody is known to call it.`];
}

function typeText({ typeUses }: Impact, section: Section): string | false {
  if (typeUses === undefined) return false;
  const places = section('The sources name it, as a type or otherwise', typeUses.map(locatedText));
  return [NO_TYPE_USES, places || 'The sources that are loaded do not name it elsewhere.'].join('\n\n');
}

function classText({ class: kind, slots, instances }: Impact): string | false {
  if (kind === undefined) return false;
  const counted = instances === undefined ? 'not counted, as the heap is large' : String(instances);
  return [slots && `Direct slots: ${slots.join(', ')}`, `Instances, with those of subclasses: ${counted}`]
    .filter(Boolean)
    .join('\n');
}

function testSection(impact: Impact, limit: number): string | false {
  const { kind, testSystems = 0, tests, testCount, testsMore } = impact;
  if (kind === undefined) return false;
  if (testSystems === 0) return 'Tests: no loaded system is known to ASDF as the test of another.';
  const more = testsMore ? '\nNote: it has too many callers to follow all of them.' : '';
  if (testCount === 0 && impact.testsNaming.length > 0)
    return `Tests that name it: ${filesText(impact.testsNaming, limit)}${more}`;
  if (testCount === 0) return `No test reaches it.${more}`;
  const lines = listText(tests.slice(0, limit).map(locatedText), false);
  const rest = testCount - Math.min(limit, tests.length);
  return `Tests that reach it (${testCount}):\n${lines}${rest > 0 ? `\n  ... ${rest} more; limit tells them` : ''}${more}`;
}

/** Returns what is told of the tests NAMES that reached the definition when that was recorded. */
function recordedText(names: string[] | undefined, limit: number): string | false {
  if (names === undefined) return false;
  if (names.length === 0) return 'No test reached it in the last run with coverage.';
  const more = names.length > limit ? ` and ${names.length - limit} more` : '';
  return `Reached it in a run with coverage (${names.length}): ${names.slice(0, limit).join(', ')}${more}. run_tests with touching runs these.`;
}

/** Returns what is told of FILES that are not loaded, LIMIT of them. */
function unloadedText(files: readonly NamingFile[], limit: number): string | false {
  if (files.length === 0) return false;
  return `Not loaded, so not checked; they name it: ${filesText(files, limit)}`;
}

/** Returns FILES with their lines, LIMIT of them. */
function filesText(files: readonly NamingFile[], limit: number): string {
  const each = files.slice(0, limit).map(({ file, lines }) => `${file}:${lines.slice(0, LINES).join(',')}`);
  const more = files.length > limit ? ` and ${files.length - limit} more files` : '';
  return each.join('  ') + more;
}

/** Lines that are told of a file. */
const LINES = 10;

function counted(calls: number): string {
  return `${calls} ${calls === 1 ? 'call' : 'calls'}`;
}

function boundList(rows: string[], limit: number, total: number): string {
  const lines = fittingRows(rows.slice(0, limit));
  return listText(lines, lines.length < total);
}

function callText({ caller, at, text, why }: CheckedCall): string {
  return [caller, at, text, why && `[${why}]`].filter(Boolean).join('  ');
}

function locatedText({ name, at, text, why }: Located): string {
  return [name, at, text, why && `[${why}]`].filter(Boolean).join('  ');
}
