// Lays out the lists of uses in an answer about the impact of a change.

import { fittingLists, joinSections, listText } from '../../kernel/reply.ts';
import { unqualifiedName } from '../../source/qualified.ts';
import { codeShape, type MergedRows, mergeAlikeRows, SHARING, sharedHome } from '../alike-rows.ts';
import type { CheckedCall } from './call-checks.ts';

/** A use in an answer. `name` is the definition around it, `at` its place, `text` the line there, `why` the reason why
 * it breaks. */
export interface LocatedUse {
  name?: string | undefined;
  at: string;
  text: string;
  why?: string;
}

/** A list in an answer. The line above its rows is `header (of; shared[0]; shared[1]):`. `of` is the number of uses,
 * or a text in place of this number; by default, the sum of the counts of the rows. `shared` has texts for the
 * properties that all rows have in common. */
export interface Section {
  header: string;
  rows: readonly Row[];
  of?: string | number;
  shared?: readonly string[];
}

type Row = Pick<MergedRows, 'text' | 'count'>;

/** A part of an answer: a list, a text, or nothing ('' or false). */
export type Part = Section | string | false;

/** Returns SECTIONS as one text that fits into an answer, with at most LIMIT rows in each list. Leaves out empty lists.
 * A shortened list ends with a line that gives the number of omitted rows. */
export function layOut(sections: Part[], limit: number): string {
  const isList = (section: Part): section is Section => typeof section === 'object';
  const lists = sections.filter(isList);
  const textLength = sections.reduce(
    (sum, section) => sum + (typeof section === 'string' ? section.length + 2 : 0),
    0,
  );
  const shown = fittingLists(
    lists.map(({ rows }) => rows.slice(0, limit).map(({ text }) => text)),
    textLength,
  );
  const texts = new Map(lists.map((list, index) => [list, sectionText(list, shown[index] ?? [])]));
  return joinSections(sections.map((section) => (isList(section) ? texts.get(section) : section)));
}

function sectionText({ header, rows, of = countOf(rows), shared = [] }: Section, shown: string[]): string {
  if (rows.length === 0) return '';
  const more = (typeof of === 'number' ? of : countOf(rows)) - countOf(rows.slice(0, shown.length));
  return `${header} (${[of, ...shared].join('; ')}):\n${listText([...shown, ...(more > 0 ? [`... ${more} more`] : [])], false)}`;
}

function countOf(rows: readonly Row[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

/** Moves the lists with more than LIMIT rows to the end of SECTIONS, so that a reader does not overlook the short
 * ones. */
export function wholeFirst(sections: Part[], limit: number): Part[] {
  const isLong = (section: Part) => typeof section === 'object' && section.rows.length > limit;
  return [...sections.filter((section) => !isLong(section)), ...sections.filter(isLong)];
}

/** Maximum number of calls that are listed briefly in the row of a first call that looks like them. */
const ALIKE_LIMIT = 50;

/** Returns the rows for CALLS, and the package and reason that all of them share. STATED_HOME is a prefix `PACKAGE::`
 * that an earlier line of the answer names; the rows leave it out. */
export function callList(calls: readonly CheckedCall[], statedHome = ''): Pick<Section, 'rows' | 'shared'> {
  const home = statedHome || sharedHome(calls.flatMap(({ caller }) => caller || []));
  const [why, ...otherReasons] = new Set(calls.map((call) => call.why));
  const reason = otherReasons.length === 0 && calls.length >= SHARING ? why : undefined;
  const short = calls.map(({ caller, why: own, ...call }) => ({
    ...call,
    ...(caller !== undefined && { caller: caller.startsWith(home) ? caller.slice(home.length) : caller }),
    ...(reason === undefined && own !== undefined && { why: own }),
  }));
  const shared = [home && !statedHome && `names in ${home.slice(0, -2)}`, reason && `each: ${reason}`];
  return { rows: callRows(short), shared: shared.flatMap((each) => each || []) };
}

/** Returns the rows for CALLS. Merges calls that have the same reason and look alike (see codeShape). */
function callRows(calls: readonly CheckedCall[]): Row[] {
  const shaped = calls.map((call) => ({
    text: locatedText({ ...call, name: call.caller }),
    shape:
      call.text === ''
        ? undefined
        : `${codeShape(call.text, call.caller === undefined ? [] : [unqualifiedName(call.caller)])} [${call.why}]`,
    brief: { name: call.caller, at: call.at },
  }));
  return mergeAlikeRows(shaped, '    ', ALIKE_LIMIT);
}

/** Returns a row for each of USES. */
export function locatedRows(uses: readonly LocatedUse[]): Row[] {
  return uses.map((use) => ({ text: locatedText(use), count: 1 }));
}

/** Returns the text of a use on one line. */
export function locatedText({ name, at, text, why }: LocatedUse): string {
  return [name, at, text, why && `[${why}]`].filter(Boolean).join('  ');
}
