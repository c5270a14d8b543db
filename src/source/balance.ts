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

interface Candidate extends Repair {
  line: number;
  /** Cost of the edit itself. The cost of the resulting indentation is added to it. */
  unlikely: number;
  /** The elements that replace the region's elements from index `from` up to, not including, index `to`. */
  put: Element[];
  from: number;
  to: number;
  /** Number of columns that the rest of the line moves to the right. */
  moved: number;
  /** Whether the element at index `to` becomes the first of its line. Undefined if the repair does not change
   *  that. */
  leads?: boolean;
}

/** Larger regions are most likely tables of data, so they are not searched for a repair. */
const ELEMENTS = 30_000;

/** How many lines before the first contradicted line (see Indented) are searched for the fault. */
const LINES_BACK = 250;

/** Maximum number of elements read in one search. Each tried repair reads the rest of the form. */
const LOOKS = 600_000;

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
    ...(best && { repair: repairOf(best) }),
    ...(open && region.next && { swallowed: region.next.line }),
  };
}

function repairOf({ index, removed, sign, text }: Candidate): Repair {
  return { index, removed, sign, text };
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
  #parts: Element[] = [];
  #first: Element | undefined;
  #last: Element | undefined;
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
    const begins = atMargin(part);
    if (begins && part.sort !== 'atom' && this.#depth !== 0) {
      if (this.#closed) this.#found = this.#region(part);
      else this.#open ??= this.#region(part);
    }
    if (begins && this.#depth === 0 && !this.#closed) {
      this.#parts = [];
      this.#first = undefined;
      this.#open = undefined;
    }
    this.#first ??= part;
    this.#last = part;
    if (this.#parts.length <= ELEMENTS) this.#parts.push(part);
    this.#depth += depthAfter(part);
    if (this.#depth < 0) this.#closed = true;
  }

  /** Returns the unbalanced region, if any. Call it after the last element. */
  end(): Region | undefined {
    if (this.#found !== undefined || this.#depth === 0) return this.#found;
    return this.#closed ? this.#region(undefined) : (this.#open ?? this.#region(undefined));
  }

  #region(next: Element | undefined): Region {
    const many = this.#parts.length > ELEMENTS;
    return {
      parts: many ? [] : this.#parts.slice(),
      began: this.#first?.line ?? 0,
      lastLine: this.#last?.line ?? 0,
      excess: this.#depth,
      next,
    };
  }
}

function bestRepair({ parts, excess }: Region): Candidate | undefined {
  const contradicted = wholeOf(parts).contradicted ?? parts.at(-1)?.line ?? 0;
  const last = parts.findLastIndex(({ line }) => line <= contradicted);
  const from = parts.findIndex(({ line }) => line >= contradicted - LINES_BACK);
  const before = readBefore(parts, from, last);
  let best: { candidate: Candidate; cost: number } | undefined;
  // Number of closing parentheses in a row, from this element on, in its line.
  let closes = 0;
  for (let index = last, looks = 0; index >= from && looks < LOOKS; index--) {
    const [part, next] = [parts[index], parts[index + 1]];
    closes = part?.sort !== 'close' ? 0 : next?.line === part.line ? closes + 1 : 1;
    for (const candidate of repairsAt(parts, index, excess, closes)) {
      const read = before[candidate.from - from];
      if (read === undefined) continue;
      const tried = costOf(candidate, read, parts, best?.cost);
      looks += tried.looks;
      const cost = tried.cost + candidate.unlikely;
      if (best === undefined || cost < best.cost) best = { candidate, cost };
    }
  }
  return best?.candidate;
}

function wholeOf(parts: readonly Element[]): Indented {
  let read = NOTHING_READ;
  for (const part of parts) read = readOn(read, part);
  return read;
}

/** Returns the state before each of PARTS from index FROM up to index LAST + 1. */
function readBefore(parts: readonly Element[], from: number, last: number): Indented[] {
  const known: Indented[] = [];
  let read = NOTHING_READ;
  for (const [index, part] of parts.entries()) {
    if (index >= from) known.push(read);
    if (index > last) return known;
    read = readOn(read, part);
  }
  known.push(read);
  return known;
}

/** Returns the cost of PARTS with the candidate applied, and the number of elements read. BEFORE is the state
 *  before the replaced elements. Stops reading when the cost exceeds LIMIT. */
function costOf(
  { put, to, moved, leads, line }: Candidate,
  before: Indented,
  parts: readonly Element[],
  limit = Number.POSITIVE_INFINITY,
): { cost: number; looks: number } {
  let read = before;
  for (const part of put) read = readOn(read, part);
  let sameLine = moved !== 0;
  let index = to;
  for (; index < parts.length && read.cost <= limit; index++) {
    const part = parts[index] as Element;
    sameLine &&= part.line === line;
    read = readOn(read, sameLine ? movedBy(part, moved, index === to ? leads : undefined) : part);
  }
  return { cost: costAtEnd(read), looks: put.length + index - to };
}

function movedBy(part: Element, columns: number, leads = part.leads): Element {
  return { ...part, column: part.column + columns, paren: part.paren + columns, leads };
}

/** Returns the repairs at PARTS[INDEX] for a region with this EXCESS. CLOSES is the number of closing
 *  parentheses in a row from PARTS[INDEX] to the end of its line. */
function repairsAt(parts: readonly Element[], index: number, excess: number, closes: number): Candidate[] {
  const part = parts[index];
  if (part === undefined) return [];
  const endsLine = parts[index + 1]?.leads ?? true;
  if (excess > 0) {
    return [
      ...(endsLine && part.sort !== 'prefix' ? [closedAfter(index, part, excess)] : []),
      ...(excess === 1 && part.sort === 'open' ? [without(index, part, 1)] : []),
    ];
  }
  return [
    ...(closes >= -excess ? [without(index, part, -excess)] : []),
    ...(excess === -1 && part.sort !== 'close' ? [openedBefore(index, part)] : []),
  ];
}

function closedAfter(index: number, part: Element, count: number): Candidate {
  const close: Element = { ...part, sort: 'close', leads: false, line: part.endLine };
  return {
    ...{ line: part.endLine, index: part.end, removed: 0, sign: ')', text: ')'.repeat(count), unlikely: 0 },
    ...{ put: Array<Element>(count).fill(close), from: index + 1, to: index + 1, moved: 0 },
  };
}

/** Returns the repair that removes COUNT parentheses, the first of them PART at INDEX. */
function without(index: number, part: Element, count: number): Candidate {
  const opens = part.sort === 'open';
  return {
    ...{ line: part.line, index: opens ? part.end - 1 : part.start, removed: count, text: '' },
    ...{ sign: opens ? '(' : ')', unlikely: opens ? UNLIKELY : 0 },
    ...{ put: [], from: index, to: index + count, moved: -count, leads: part.leads },
  };
}

function openedBefore(index: number, part: Element): Candidate {
  const open: Element = { ...part, sort: 'open', paren: part.column };
  return {
    ...{ line: part.line, index: part.start, removed: 0, sign: '(', text: '(', unlikely: UNLIKELY },
    ...{ put: [open, { ...part, leads: false }], from: index, to: index + 1, moved: 1 },
  };
}
