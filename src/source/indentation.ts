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

/** Columns of what was seen in a list, the last one first. */
type Columns = { readonly column: number; readonly before: Columns } | undefined;

/** A list that is open, with those around it. */
interface Open {
  readonly paren: number;
  /** Whether it begins with an atom, as a call does. */
  readonly call: boolean;
  /** The columns of its elements, and of those that lead a line. */
  readonly columns: Columns;
  readonly leading: Columns;
  /** The column of its second element. */
  readonly second: number | undefined;
  readonly around: Open | undefined;
}

/** What is known of a text when some of its elements were read. It never changes, so that it can be kept. */
export interface Indented {
  /** What the indentation costs so far: 0 when each line fits. */
  readonly cost: number;
  /** The first line that contradicts the structure. */
  readonly contradicted: number | undefined;
  readonly open: Open | undefined;
  /** How many lists are open. */
  readonly depth: number;
  readonly prefixed: boolean;
}

/** What is known before the first element. */
export const NOTHING_READ: Indented = {
  cost: 0,
  contradicted: undefined,
  open: undefined,
  depth: 0,
  prefixed: false,
};

/** No list has its content at or before the column of its parenthesis, and nothing is indented beside a top-level form. */
const CONTRADICTION = 10;

/** Elements of a list whose columns are compared with that of a line. */
const COMPARED = 200;

/** Returns what is known after PART when BEFORE was known before it. */
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

/** Returns what the indentation costs of a text that ends where READ is known. */
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

/** Returns what a line costs that begins in COLUMN within LIST, or beside all lists. */
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
