// Computes a cost that says how badly the indentation of a Lisp text fits the nesting of its parentheses.

/** A token and its position. Lines are 1-based, columns 0-based. */
export interface Element {
  sort: 'open' | 'close' | 'prefix' | 'atom';
  start: number;
  end: number;
  line: number;
  /** The line in which the token ends: a string can span lines. */
  endLine: number;
  column: number;
  /** Column of the token's parenthesis, which in #( is after the #. */
  paren: number;
  /** Whether the token is the first in its line. */
  leads: boolean;
}

/** Columns in a list, as a linked list with the latest first. */
type Columns = { readonly column: number; readonly before: Columns } | undefined;

/** An open list. `around` is the list outside of it. */
interface Open {
  readonly paren: number;
  /** Whether the first element of the list is an atom, as in a call. */
  readonly call: boolean;
  readonly columns: Columns;
  /** The columns of the elements that begin a line. */
  readonly leading: Columns;
  readonly second: number | undefined;
  readonly around: Open | undefined;
}

/** The state after reading some elements. It is immutable, so callers can keep one for each element. */
export interface Indented {
  /** Sum of the costs so far: 0 when each line fits. */
  readonly cost: number;
  /** The first line whose indentation contradicts the nesting. */
  readonly contradicted: number | undefined;
  readonly open: Open | undefined;
  readonly depth: number;
  /** Whether the last element was a prefix, such as '. A prefix counts as one element with its form. */
  readonly prefixed: boolean;
}

export const NOTHING_READ: Indented = {
  cost: 0,
  contradicted: undefined,
  open: undefined,
  depth: 0,
  prefixed: false,
};

/** Cost of an impossible line: at or left of its list's parenthesis, or indented at top level. */
const CONTRADICTION = 10;

/** At most this many elements of a list are compared with the column of a line. */
const COMPARED = 200;

/** Returns the state after PART, given the state BEFORE it. */
export function readOn(before: Indented, part: Element): Indented {
  const { open, depth, cost, contradicted } = before;
  if (part.sort === 'close') {
    if (open !== undefined) return { ...before, open: open.around, depth: depth - 1 };
    return { ...before, cost: cost + CONTRADICTION, contradicted: contradicted ?? part.line };
  }
  const paid = part.leads && !before.prefixed ? lineCost(open, part.column) : 0;
  const list = open === undefined || before.prefixed ? open : entered(open, part);
  const opens = part.sort === 'open';
  return {
    cost: cost + paid,
    contradicted: contradicted ?? (paid >= CONTRADICTION ? part.line : undefined),
    open: opens ? newList(part.paren, list) : list,
    depth: opens ? depth + 1 : depth,
    prefixed: part.sort === 'prefix',
  };
}

/** Returns the total cost when the text ends in this state. Each open list adds a contradiction. */
export function costAtEnd({ cost, depth }: Indented): number {
  return cost + CONTRADICTION * depth;
}

function newList(paren: number, around: Open | undefined): Open {
  return { paren, call: false, columns: undefined, leading: undefined, second: undefined, around };
}

function entered(list: Open, { sort, column, leads }: Element): Open {
  const { paren, around, columns, leading } = list;
  return {
    paren,
    around,
    call: columns === undefined ? sort === 'atom' : list.call,
    columns: { column, before: columns },
    leading: leads ? { column, before: leading } : leading,
    second: list.second ?? (columns === undefined ? undefined : column),
  };
}

function has(columns: Columns, column: number): boolean {
  let each = columns;
  for (let count = 0; each !== undefined && count < COMPARED; count++) {
    if (each.column === column) return true;
    each = each.before;
  }
  return false;
}

/** Returns the cost of a line that begins in COLUMN within LIST, or at top level if LIST is undefined.
 *  Columns that editors indent to cost 0. */
function lineCost(list: Open | undefined, column: number): number {
  if (list === undefined) return column === 0 ? 0 : CONTRADICTION;
  const { paren, call, columns, leading, second } = list;
  const indent = column - paren;
  if (indent <= 0) return CONTRADICTION;
  if (has(leading, column)) return 0;
  if (columns === undefined) return indent === 1 ? 0 : 1;
  if (!call) return indent === 1 ? 0 : has(columns, column) ? 1 : 3;
  if (indent === 2) return 0;
  if (leading === undefined) {
    if (second === undefined ? indent === 1 : column === second) return 0;
    if (indent === 4 || indent === 1) return 1;
  }
  return has(columns, column) ? 1 : 3;
}
