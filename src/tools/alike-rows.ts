// Shortens lists with many similar rows. The first of several similar rows is shown completely, and one line lists the
// places of the others.

import { fewOf, fittingRows } from '../kernel/reply.ts';
import { commonPrefix } from '../source/qualified.ts';

/** The short form of a row: `at` is its place as FILE:LINE:COLUMN, `name` the definition there, and `behind` the text
 * that follows both. */
interface Brief {
  name?: string | undefined;
  at: string;
  behind?: string | undefined;
}

/** A row of a list. Rows with the same `shape` are merged: the first one is shown as `text`, the others as `brief`. A
 * row without `shape` is always shown as `text`. */
export interface ShapedRow {
  text: string;
  shape?: string | undefined;
  brief: Brief;
}

/** The header of a list states a package or reason that all rows share, if there are at least this number of rows. The
 * rows then leave it out. */
export const SHARING = 3;

/** Returns the prefix `PACKAGE::` with which all NAMES begin; '' when there is none, or when there are fewer than
 * SHARING names. */
export function sharedHome(names: readonly string[]): string {
  const home = names.length < SHARING ? '' : commonPrefix(names);
  // `commonPrefix` also finds the package in `(SETF PACKAGE::NAME)`, which does not begin with `PACKAGE::`.
  return names.every((name) => name.startsWith(home)) ? home : '';
}

/** Returns the end of a header above names that are all in one package. HOME is the prefix `PACKAGE::`; if it is '',
 * returns ''. */
export function allIn(home = ''): string {
  return home && `, all in ${home.slice(0, -2)}`;
}

/** The text for a row, or for several merged rows. `first` is the index of the first of them, `count` is their
 * number. */
export interface MergedRows {
  text: string;
  first: number;
  count: number;
}

/** Rows of one shape are merged only when there are more than this. */
const UNMERGED_LIMIT = 4;

/** Returns TEXT, Lisp code, with each number replaced by 0, each string by "", and each name in OWN by _. So similar
 * code gives equal texts. */
export function codeShape(text: string, own: readonly string[]): string {
  const names = new Set(own.map((name) => name.toUpperCase()));
  return text.replace(/"(?:\\.|[^"\\])*"|[^\s()'`,"]+/g, (word) => {
    if (word.startsWith('"')) return '""';
    if (/^[-+.]?\d/.test(word)) return '0';
    return names.has(word.toUpperCase()) ? '_' : word;
  });
}

/** Returns the texts for ROWS. Rows of one shape give one text: the first row, and then a line that begins with
 * INDENTATION and lists at most MOST of the other rows. */
export function mergeAlikeRows(
  rows: readonly ShapedRow[],
  indentation: string,
  most = Number.POSITIVE_INFINITY,
): MergedRows[] {
  return [...grouped(rows)].map(([first, others]) => {
    const briefs = others.map(({ brief }) => brief);
    const alike = `${indentation}and ${others.length} alike${briefsText(briefs, most)}`;
    const text = rows[first]?.text ?? '';
    return { text: others.length === 0 ? text : `${text}\n${alike}`, first, count: others.length + 1 };
  });
}

/** Returns text that lists at most MOST of BRIEFS, the short forms of rows. A package or file that all of them have in
 * common is given once. */
function briefsText(briefs: readonly Brief[], most: number): string {
  const home = commonPrefix(briefs.map(({ name = '' }) => name));
  const [file, ...otherFiles] = new Set(briefs.map(({ at }) => at.replace(/:\d+:\d+$/, '')));
  const shared = otherFiles.length === 0 && briefs.every(({ at }) => at !== file) ? file : undefined;
  const shown = briefs.map(({ name, at, behind }) =>
    briefText({
      name: name?.slice(home.length),
      at: shared === undefined ? at : at.slice(shared.length + 1),
      behind,
    }),
  );
  const of = home && ` of ${home.slice(0, -2)}`;
  return `${of}${shared === undefined ? '' : ` in ${shared}`}: ${fewOf(shown, most)}`;
}

function briefText({ name, at, behind }: Brief): string {
  return [name, at, behind].filter(Boolean).join(' ');
}

/** Returns as many of the first ROWS as fit into one answer. */
export function fitting<Row extends ShapedRow>(rows: readonly Row[]): Row[] {
  const firsts = grouped(rows);
  const costs = rows.map(({ text, brief }, index) => (firsts.has(index) ? text : briefText(brief)));
  return rows.slice(0, fittingRows(costs).length);
}

/** Returns a map whose keys are the indexes of the rows that are shown completely. Each value has the rows that are
 * merged into that row. */
function grouped(rows: readonly ShapedRow[]): Map<number, ShapedRow[]> {
  const counts = new Map<string | undefined, number>();
  for (const { shape } of rows) counts.set(shape, (counts.get(shape) ?? 0) + 1);
  const firsts = new Map<string, ShapedRow[]>();
  const groups = new Map<number, ShapedRow[]>();
  for (const [index, row] of rows.entries()) {
    const { shape } = row;
    const others = shape === undefined ? undefined : firsts.get(shape);
    if (others !== undefined) {
      others.push(row);
      continue;
    }
    const behind: ShapedRow[] = [];
    groups.set(index, behind);
    if (shape !== undefined && (counts.get(shape) ?? 0) > UNMERGED_LIMIT) firsts.set(shape, behind);
  }
  return groups;
}
