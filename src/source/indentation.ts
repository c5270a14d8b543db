// Decides how well the lines of a Lisp text are indented for the lists that they stand in.

/** A token, as far as indentation looks at it. Columns count from 0. */
export interface Element {
  sort: 'open' | 'close' | 'prefix' | 'atom';
  start: number;
  end: number;
  line: number;
  /** The line in which it ends, as a string can in another. */
  endLine: number;
  column: number;
  /** The column of its parenthesis. */
  paren: number;
  /** True of the first of its line. */
  leads: boolean;
}

/** A list that is open, and the columns of what has been seen in it. */
interface Open {
  paren: number;
  /** Whether it begins with an atom, as a call does. */
  call: boolean;
  /** Of its elements in the order of the text. */
  columns: number[];
  /** Of those that lead a line. */
  leading: number[];
}

/** No list has its content at or before the column of its parenthesis, and nothing is indented beside a top-level form. */
const CONTRADICTION = 10;

/** Returns what the indentation of PARTS costs, 0 when each line fits, and the first line that contradicts their
 *  structure. Above LIMIT it is not told exactly. */
export function indentationCost(
  parts: readonly Element[],
  limit = Number.POSITIVE_INFINITY,
): { cost: number; contradicted: number | undefined } {
  const open: Open[] = [];
  let cost = 0;
  let contradicted: number | undefined;
  let prefixed = false;
  for (const part of parts) {
    if (cost > limit) break;
    if (part.sort === 'close') {
      if (open.pop() === undefined) {
        cost += CONTRADICTION;
        contradicted ??= part.line;
      }
    } else {
      const list = open.at(-1);
      if (!prefixed) {
        const paid = part.leads ? lineCost(list, part.column) : 0;
        cost += paid;
        if (paid >= CONTRADICTION) contradicted ??= part.line;
        if (list !== undefined) enter(list, part);
      }
      prefixed = part.sort === 'prefix';
      if (part.sort === 'open') open.push({ paren: part.paren, call: false, columns: [], leading: [] });
    }
  }
  return { cost: cost + CONTRADICTION * open.length, contradicted };
}

function enter(list: Open, { sort, column, leads }: Element): void {
  if (list.columns.length === 0) list.call = sort === 'atom';
  list.columns.push(column);
  if (leads) list.leading.push(column);
}

/** Returns what a line costs that begins in COLUMN within LIST, or beside all lists. */
function lineCost(list: Open | undefined, column: number): number {
  if (list === undefined) return column === 0 ? 0 : CONTRADICTION;
  const { paren, call, columns, leading } = list;
  const indent = column - paren;
  if (indent <= 0) return CONTRADICTION;
  if (leading.includes(column)) return 0;
  const [, second] = columns;
  if (columns.length === 0) return indent === 1 ? 0 : 1;
  if (!call) return indent === 1 ? 0 : columns.includes(column) ? 1 : 3;
  if (indent === 2) return 0;
  if (leading.length === 0) {
    if (second === undefined ? indent === 1 : column === second) return 0;
    if (indent === 4 || indent === 1) return 1;
  }
  return columns.includes(column) ? 1 : 3;
}
