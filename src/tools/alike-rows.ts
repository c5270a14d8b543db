// Shortens lists with many similar rows: the first row is shown whole, and one line lists the places of
// the others.

import { fewOf, fittingRows } from '../kernel/reply.ts';
import { commonPrefix } from '../source/qualified.ts';

/** A row in short form. `at` is its place as FILE:LINE:COLUMN, `name` the definition there, `behind` the text
 * after both. */
interface Brief {
  name?: string | undefined;
  at: string;
  behind?: string | undefined;
}

/** A row of a list. Rows with the same `shape` are merged: the first is shown as `text`, the others as
 * `brief`. A row without `shape` is always shown whole. */
export interface ShapedRow {
  text: string;
  shape?: string | undefined;
  brief: Brief;
}

/** From this many rows on, a package or a reason common to all of them is shown in the header only. */
export const SHARING = 3;

/** Returns the prefix `PACKAGE::` that all NAMES begin with; '' when there is none, or when there are few
 * NAMES. */
export function sharedHome(names: readonly string[]): string {
  const home = names.length < SHARING ? '' : commonPrefix(names);
  // A setf function may also be printed as `(SETF PACKAGE::NAME)`.
  return names.every((name) => name.startsWith(home)) ? home : '';
}

/** Returns the end of a header for names in the package HOME, which has the form `PACKAGE::`. */
export function allIn(home = ''): string {
  return home && `, all in ${home.slice(0, -2)}`;
}

/** The text for merged rows, or for a single row. `first` is the index of the first of them, `count` their
 * number. */
export interface MergedRows {
  text: string;
  first: number;
  count: number;
}

/** Up to this many rows of the same shape are shown whole. */
const FEW = 4;

/** Returns TEXT, Lisp code, with 0 in place of each number, "" in place of each string, and _ in place of
 *  each name in OWN. The results for similar code are equal. */
export function codeShape(text: string, own: readonly string[]): string {
  const names = new Set(own.map((name) => name.toUpperCase()));
  return text.replace(/"(?:\\.|[^"\\])*"|[^\s()'`,"]+/g, (word) => {
    if (word.startsWith('"')) return '""';
    if (/^[-+.]?\d/.test(word)) return '0';
    return names.has(word.toUpperCase()) ? '_' : word;
  });
}

/** Returns the texts for ROWS. Rows of one shape become one text: the first row, then a line that begins with
 * INDENTATION and lists at most MOST of the others. */
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

/** Returns the list of BRIEFS, at most MOST. A package or file common to all is written once. */
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

/** Returns the first of ROWS, as many as fit in one answer. */
export function fitting<Row extends ShapedRow>(rows: readonly Row[]): Row[] {
  const firsts = grouped(rows);
  const costs = rows.map(({ text, brief }, index) => (firsts.has(index) ? text : briefText(brief)));
  return rows.slice(0, fittingRows(costs).length);
}

/** Returns a map from the index of each row shown whole to the rows that are merged into it. */
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
    if (shape !== undefined && (counts.get(shape) ?? 0) > FEW) firsts.set(shape, behind);
  }
  return groups;
}
