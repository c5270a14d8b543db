// Shortens lists with many rows of the same shape: shows the first of these rows whole, and for the others
// only their places, in one line.

import { fewOf, fittingRows } from '../kernel/reply.ts';
import { commonPrefix } from '../source/qualified.ts';

/** A row in short form: a place AT, as FILE:LINE:COLUMN, the NAME of the definition there, and what stands behind. */
interface Brief {
  name?: string | undefined;
  at: string;
  behind?: string | undefined;
}

/** A row of a list. TEXT is the whole row. BRIEF stands for the row in the line that lists further rows of
 *  the same SHAPE. Rows of one SHAPE are so alike that one of them, shown whole, is enough. A row without
 *  SHAPE is always shown whole. */
export interface ShapedRow {
  text: string;
  shape?: string | undefined;
  brief: Brief;
}

/** When at least this many rows share a package or a reason, only the header shows it. */
export const SHARING = 3;

/** Returns the prefix `PACKAGE::` with which all NAMES begin, to be said once; '' when there is none, or NAMES are
 *  few. */
export function sharedHome(names: readonly string[]): string {
  const home = names.length < SHARING ? '' : commonPrefix(names);
  // A setf function may also be printed as `(SETF PACKAGE::NAME)`.
  return names.every((name) => name.startsWith(home)) ? home : '';
}

/** Returns the end of a header above names that share HOME, as sharedHome returns it. */
export function allIn(home = ''): string {
  return home && `, all in ${home.slice(0, -2)}`;
}

/** The text for the rows of one shape, or for a single row. FIRST is the index of the first of these rows,
 *  COUNT their number. */
export interface ToldRows {
  text: string;
  first: number;
  count: number;
}

/** Up to this many rows of the same shape are all shown whole. */
const FEW = 4;

/** Returns the shape of the Lisp code TEXT: the code with 0 for each number, "" for each string, and _ for
 *  each of the names OWN. */
export function codeShape(text: string, own: readonly string[]): string {
  const names = new Set(own.map((name) => name.toUpperCase()));
  return text.replace(/"(?:\\.|[^"\\])*"|[^\s()'`,"]+/g, (word) => {
    if (word.startsWith('"')) return '""';
    if (/^[-+.]?\d/.test(word)) return '0';
    return names.has(word.toUpperCase()) ? '_' : word;
  });
}

/** Returns the texts for ROWS. Rows of one shape become one text in the place of the first: that row whole,
 *  then a line that begins with INDENTATION and lists at most MOST of the others. */
export function mergeAlikeRows(
  rows: readonly ShapedRow[],
  indentation: string,
  most = Number.POSITIVE_INFINITY,
): ToldRows[] {
  return [...grouped(rows)].map(([first, others]) => {
    const briefs = others.map(({ brief }) => brief);
    const alike = `${indentation}and ${others.length} alike${briefsText(briefs, most)}`;
    const text = rows[first]?.text ?? '';
    return { text: others.length === 0 ? text : `${text}\n${alike}`, first, count: others.length + 1 };
  });
}

/** Returns at most MOST of BRIEFS. The package and the file that all share stand before them, once. */
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

/** Returns as many of ROWS, from the first on, as fit in one answer. */
export function fitting<Row extends ShapedRow>(rows: readonly Row[]): Row[] {
  const firsts = grouped(rows);
  const costs = rows.map(({ text, brief }, index) => (firsts.has(index) ? text : briefText(brief)));
  return rows.slice(0, fittingRows(costs).length);
}

/** Returns a map from the index of each row that is shown whole to the rows listed in the line below it. */
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
