// Finds where a Lisp text lacks parentheses or has too many, judging by its indentation.

import { costAtEnd, type Element, type Indented, NOTHING_READ, readOn } from './indentation.ts';
import { nextToken } from './lexer.ts';

/** What is wrong with a text. Line numbers are 1-based. */
export interface Imbalance {
  /** 'open': a list is not closed. 'string': a string or |symbol| is not closed. 'closed': a `)` closes
   *  nothing. */
  kind: 'open' | 'string' | 'closed';
  began: number;
  /** The line whose indentation shows that a parenthesis is missing or surplus. */
  line: number;
  /** An edit in `line` that balances the text. */
  repair?: Repair;
  /** The line of the next top-level form, which the reader would take as part of the unclosed form. */
  swallowed?: number;
}

/** An edit at `index`: removes `removed` parentheses, or inserts `text` if `removed` is 0. */
interface Repair {
  index: number;
  removed: number;
  sign: '(' | ')';
  text: string;
}

interface Region {
  /** Elements of the region; empty when there are too many to search for a repair. */
  parts: readonly Element[];
  began: number;
  lastLine: number;
  /** Number of opening parentheses in the region minus the number of closing ones; never 0. */
  excess: number;
  /** The first element of the next top-level form; undefined at the end of the text. */
  next: Element | undefined;
}

interface Candidate {
  repair: Repair;
  /** The line of the repair. */
  line: number;
  /** Cost of the repair itself. The cost of the resulting indentation is added to it. */
  cost: number;
  /** The elements that replace those with the indices FROM to TO - 1 of the region. */
  put: Element[];
  from: number;
  to: number;
  /** Number of columns that the rest of the line moves to the right. */
  moved: number;
}

/** Larger regions are most likely tables of data, so they are not searched for a repair. */
const ELEMENTS = 30_000;

/** Number of lines before the first contradicted line (see Indented) in which repairs are tried. */
const LINES_BACK = 250;

/** After this many elements were read, no other repairs are tried. Each try reads the rest of the form. */
const READS = 600_000;

/** Added cost of a repair that changes an opening parenthesis. People miscount closing parentheses more
 *  often, so a repair of these is preferred. */
const UNLIKELY = 0.5;

/** Returns the imbalance of parentheses or string quotes in TEXT; undefined when they balance. */
export function imbalanceOf(text: string): Imbalance | undefined {
  const search = new RegionSearch();
  // Start of the first string or |symbol| that contains a line beginning with a parenthesis.
  let swallowing: number | undefined;
  let at = 0;
  for (const element of elementsOf(text)) {
    search.take(element);
    if (element.endLine > element.line && text.slice(element.start, element.end).includes('\n('))
      swallowing ??= element.start;
    at = element.end;
  }
  const { start } = nextToken(text, at);
  if (start < text.length) return openString(text, swallowing ?? start);
  const region = search.end();
  if (region === undefined) return undefined;
  const best = bestRepair(region);
  const open = region.excess > 0;
  return {
    kind: open ? 'open' : 'closed',
    began: region.began,
    line: best?.line ?? region.lastLine,
    ...(best && { repair: best.repair }),
    ...(open && region.next && { swallowed: region.next.line }),
  };
}

/** Yields the tokens of TEXT. Stops before a token that the end of TEXT cuts off. */
function* elementsOf(text: string): Generator<Element> {
  let [line, lineStart, lastLine] = [1, 0, 0];
  let [column, measured] = [0, 0];
  for (let at = 0, nextLine = text.indexOf('\n'); ; ) {
    const { kind, start, end } = nextToken(text, at);
    for (; nextLine !== -1 && nextLine < start; nextLine = text.indexOf('\n', lineStart)) {
      line++;
      lineStart = nextLine + 1;
    }
    if (kind === 'end') return;
    // Counts on from the line's last element: counting from the line's beginning is quadratic.
    const counted = measured >= lineStart;
    column = width(text, counted ? measured : lineStart, start, counted ? column : 0);
    measured = start;
    const sort = sortOf(kind);
    const endLine = sort === 'atom' ? line + lineEndsIn(text, nextLine, end) : line;
    const paren = column + end - start - 1;
    yield { sort, start, end, line, endLine, column, paren, leads: line !== lastLine };
    lastLine = endLine;
    at = end;
  }
}

/** Returns the number of line breaks in TEXT before END. FIRST is the index of the first one, or -1. */
function lineEndsIn(text: string, first: number, end: number): number {
  let count = 0;
  for (let at = first; at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function sortOf(kind: string): Element['sort'] {
  if (kind.endsWith('(')) return 'open';
  if (kind === ')') return 'close';
  return kind === 'atom' || kind === '.' || kind === '##' ? 'atom' : 'prefix';
}

/** Returns the column at END of TEXT when START is at COLUMN. Tab stops are 8 columns apart. */
function width(text: string, start: number, end: number, column: number): number {
  let columns = column;
  for (const char of text.slice(start, end)) columns += char === '\t' ? 8 - (columns % 8) : 1;
  return columns;
}

/** Returns the imbalance of TEXT, whose last string or |symbol| is not closed. START is the start of the
 *  string that most likely lacks its end. */
function openString(text: string, start: number): Imbalance {
  const line = text.slice(0, start).split('\n').length;
  return { kind: 'string', began: line, line };
}

function atMargin({ leads, column, sort }: Element): boolean {
  return leads && column === 0 && sort !== 'close';
}

function depthAfter({ sort }: Element): number {
  if (sort === 'open') return 1;
  return sort === 'close' ? -1 : 0;
}

class RegionSearch {
  /** The elements since the last top-level form that was balanced; not all when there are too many. */
  #parts: Element[] = [];
  #lastLine = 0;
  #depth = 0;
  /** Whether a closing parenthesis without an opening one was read. */
  #closed = false;
  /** The region to report if the open lists are never closed: it ends at the first form at the left
   *  margin. */
  #open: Region | undefined;
  /** The complete region with too many closing parentheses. */
  #found: Region | undefined;

  take(part: Element): void {
    if (this.#found !== undefined) return;
    if (atMargin(part) && this.#depth === 0 && !this.#closed) {
      this.#parts = [];
      this.#open = undefined;
    } else if (atMargin(part) && this.#depth !== 0 && part.sort !== 'atom') {
      if (this.#closed) this.#found = this.#region(part);
      else this.#open ??= this.#region(part);
    }
    if (this.#parts.length <= ELEMENTS) this.#parts.push(part);
    this.#lastLine = part.line;
    this.#depth += depthAfter(part);
    if (this.#depth < 0) this.#closed = true;
  }

  /** Returns the unbalanced region, if any. Call it after the last element. */
  end(): Region | undefined {
    if (this.#found !== undefined || this.#depth === 0) return this.#found;
    return this.#closed ? this.#region(undefined) : (this.#open ?? this.#region(undefined));
  }

  #region(next: Element | undefined): Region {
    return {
      parts: this.#parts.length > ELEMENTS ? [] : this.#parts.slice(),
      began: this.#parts[0]?.line ?? 0,
      lastLine: this.#lastLine,
      excess: this.#depth,
      next,
    };
  }
}

/** Returns the repair with the lowest cost; undefined when there is none. Tries repairs from the first line
 *  that contradicts the parentheses backwards, because the fault is in this line or before it. */
function bestRepair({ parts, excess }: Region): Candidate | undefined {
  const states = statesOf(parts);
  const contradicted = states.at(-1)?.contradicted ?? parts.at(-1)?.line ?? 0;
  const first = parts.findIndex(({ line }) => line >= contradicted - LINES_BACK);
  const last = parts.findLastIndex(({ line }) => line <= contradicted);
  let best: { candidate: Candidate; cost: number } | undefined;
  // Number of closing parentheses in a row, from this element on, in its line.
  let closes = 0;
  for (let index = last, reads = 0; index >= first && reads < READS; index--) {
    const [part, next] = [parts[index], parts[index + 1]];
    closes = part?.sort !== 'close' ? 0 : next?.line === part.line ? closes + 1 : 1;
    for (const candidate of repairsAt(parts, index, excess, closes)) {
      const tried = costOf(candidate, states[candidate.from] as Indented, parts, best?.cost);
      reads += tried.reads;
      if (best === undefined || tried.cost < best.cost) best = { candidate, cost: tried.cost };
    }
  }
  return best?.candidate;
}

/** Returns the reading states before each of PARTS, and the state after the last. */
function statesOf(parts: readonly Element[]): Indented[] {
  const states = [NOTHING_READ];
  for (const [index, part] of parts.entries()) states.push(readOn(states[index] as Indented, part));
  return states;
}

/** Returns the cost of CANDIDATE and of PARTS with it applied, and the number of elements that were READ to
 *  compute it. BEFORE is the state before the replaced elements. A cost above LIMIT is a lower bound: reading
 *  stops there. */
function costOf(
  { put, to, moved, line, cost }: Candidate,
  before: Indented,
  parts: readonly Element[],
  limit = Number.POSITIVE_INFINITY,
): { cost: number; reads: number } {
  let read = before;
  for (const part of put) read = readOn(read, part);
  let index = to;
  for (; index < parts.length && read.cost <= limit; index++) {
    const part = parts[index] as Element;
    read = readOn(read, part.line === line ? movedBy(part, moved) : part);
  }
  return { cost: cost + costAtEnd(read), reads: put.length + index - to };
}

function movedBy(part: Element, columns: number): Element {
  return { ...part, column: part.column + columns, paren: part.paren + columns };
}

/** Returns the repairs at PARTS[INDEX] for a region with this EXCESS. CLOSES is the number of closing
 *  parentheses in a row from PARTS[INDEX] to the end of its line. */
function repairsAt(parts: readonly Element[], index: number, excess: number, closes: number): Candidate[] {
  const part = parts[index];
  if (part === undefined) return [];
  const endsLine = parts[index + 1]?.leads ?? true;
  const opens = part.sort === 'open';
  if (excess > 0) {
    return [
      ...(endsLine && part.sort !== 'prefix' ? [closedAfter(index, part, excess)] : []),
      ...(excess === 1 && opens ? [without(parts, index, part, 1)] : []),
    ];
  }
  return [
    ...(closes >= -excess ? [without(parts, index, part, -excess)] : []),
    ...(excess === -1 && part.sort !== 'close' ? [openedBefore(index, part)] : []),
  ];
}

/** Returns the repair that inserts COUNT closing parentheses after PART, at INDEX, which ends its line. */
function closedAfter(index: number, part: Element, count: number): Candidate {
  const line = part.endLine;
  const close: Element = { ...part, sort: 'close', leads: false, line };
  const repair: Repair = { index: part.end, removed: 0, sign: ')', text: ')'.repeat(count) };
  return { repair, line, cost: 0, put: Array(count).fill(close), from: index + 1, to: index + 1, moved: 0 };
}

/** Returns the repair that removes COUNT parentheses from PART, at INDEX of PARTS, on. If PART begins its
 *  line, the element after the parentheses begins the line instead. */
function without(parts: readonly Element[], index: number, part: Element, count: number): Candidate {
  const { line, leads } = part;
  const opens = part.sort === 'open';
  const next = parts[index + count];
  const put = next?.line === line ? [{ ...movedBy(next, -count), leads }] : [];
  const repair: Repair = {
    index: opens ? part.end - 1 : part.start,
    removed: count,
    sign: opens ? '(' : ')',
    text: '',
  };
  const cost = opens ? UNLIKELY : 0;
  return { repair, line, cost, put, from: index, to: index + count + put.length, moved: -count };
}

function openedBefore(index: number, part: Element): Candidate {
  const { line } = part;
  const open: Element = { ...part, sort: 'open', paren: part.column };
  const repair: Repair = { index: part.start, removed: 0, sign: '(', text: '(' };
  const put = [open, { ...part, leads: false }];
  return { repair, line, cost: UNLIKELY, put, from: index, to: index + 1, moved: 1 };
}
