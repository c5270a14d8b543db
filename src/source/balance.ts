// Decides where the parentheses of a Lisp text are wrong, by what its indentation says.

import { type Element, indentationCost } from './indentation.ts';
import { nextToken } from './lexer.ts';

/** What is wrong with a text. Lines count from 1. */
export interface Imbalance {
  /** A list or a string that does not end, or a list that ends too early. */
  kind: 'open' | 'string' | 'closed';
  /** The line in which the top-level form begins, or the string. */
  began: number;
  /** The line where indentation says that a parenthesis is missing, or one too many. */
  line: number;
  /** What would put it right there. */
  repair?: Repair;
  /** The line of the next top-level form, which was taken for a part of the open one. */
  swallowed?: number;
}

/** REMOVED parentheses of a text, all SIGN, go at INDEX, or TEXT comes there. */
export interface Repair {
  index: number;
  removed: number;
  sign: '(' | ')';
  text: string;
}

/** The top-level form that is at fault, up to the next one. */
interface Region {
  parts: Element[];
  /** How many parentheses are open at its end, or too many when negative. */
  excess: number;
  next: Element | undefined;
}

interface Candidate extends Repair {
  line: number;
  /** The elements of the region as they then were. */
  parts: Element[];
  /** What it costs beside its indentation. */
  unlikely: number;
}

/** Lines before the first that contradicts, in which the fault is looked for. */
const LINES_BACK = 250;

/** Tokens that are looked at for the repairs of one text: each possible one is tried on a whole form. */
const LOOKS = 3_000_000;

/** What a repair costs that concerns where a list begins. Where it ends says less to a reader, so that is wrong more often. */
const UNLIKELY = 0.5;

/** Returns what is wrong with the parentheses of TEXT, or undefined when they are right. */
export function imbalanceOf(text: string): Imbalance | undefined {
  const { parts, cut } = elementsOf(text);
  if (cut !== undefined) return openString(text, parts, cut);
  const region = regionOf(parts);
  const [first, last] = [region?.parts[0], region?.parts.at(-1)];
  if (region === undefined || first === undefined || last === undefined) return undefined;
  const best = bestRepair(region);
  const open = region.excess > 0;
  return {
    kind: open ? 'open' : 'closed',
    began: first.line,
    line: best?.line ?? last.line,
    ...(best && { repair: repairOf(best) }),
    ...(open && region.next && { swallowed: region.next.line }),
  };
}

function repairOf({ index, removed, sign, text }: Candidate): Repair {
  return { index, removed, sign, text };
}

/** Returns the tokens of TEXT, and where it ends within one, when it does. */
function elementsOf(text: string): { parts: Element[]; cut: number | undefined } {
  const parts: Element[] = [];
  let [line, lineStart, lastLine] = [1, 0, 0];
  for (let at = 0; ; ) {
    const { kind, start, end } = nextToken(text, at, false);
    for (let next = text.indexOf('\n', lineStart); next !== -1 && next < start; ) {
      line++;
      lineStart = next + 1;
      next = text.indexOf('\n', lineStart);
    }
    if (kind === 'end') return { parts, cut: start < text.length ? start : undefined };
    const column = width(text.slice(lineStart, start));
    const sort = sortOf(kind);
    const endLine = sort === 'atom' ? line + text.slice(start, end).split('\n').length - 1 : line;
    const paren = column + end - start - 1;
    parts.push({ sort, start, end, line, endLine, column, paren, leads: line !== lastLine });
    lastLine = endLine;
    at = end;
  }
}

function sortOf(kind: string): Element['sort'] {
  if (kind.endsWith('(')) return 'open';
  if (kind === ')') return 'close';
  return kind === 'atom' || kind === '.' || kind === '##' ? 'atom' : 'prefix';
}

/** Returns how many columns TEXT takes, with tabs to each eighth. */
function width(text: string): number {
  let columns = 0;
  for (const char of text) columns += char === '\t' ? 8 - (columns % 8) : 1;
  return columns;
}

/** Returns what is wrong where a string or a quoted symbol begins at CUT and does not end. A quotation mark too many
 *  turns all later strings round, so the first that reaches over a form at the left margin is named. */
function openString(text: string, parts: Element[], cut: number): Imbalance {
  const lineAt = (index: number) => text.slice(0, index).split('\n').length;
  const early = parts.find(
    ({ sort, start, end }) => sort === 'atom' && text.slice(start, end).includes('\n('),
  );
  const line = lineAt(early?.start ?? cut);
  return { kind: 'string', began: line, line };
}

/** True of what begins a line at the left margin, as a top-level form does. */
function atMargin({ leads, column, sort }: Element): boolean {
  return leads && column === 0 && sort !== 'close';
}

/** Returns the first region of PARTS with too few or too many parentheses; undefined when there is none. */
function regionOf(parts: Element[]): Region | undefined {
  let [begin, depth] = [0, 0];
  for (const [index, part] of parts.entries()) {
    if (depth === 0 && atMargin(part)) begin = index;
    depth += depthAfter(part);
    if (depth < 0) return cutRegion(parts, begin, index + 1);
  }
  return depth > 0 ? cutRegion(parts, begin, begin + 1) : undefined;
}

function depthAfter({ sort }: Element): number {
  if (sort === 'open') return 1;
  return sort === 'close' ? -1 : 0;
}

/** Returns the region from BEGIN to the next top-level form after index FROM before which parentheses are wrong. */
function cutRegion(parts: Element[], begin: number, from: number): Region | undefined {
  let excess = 0;
  for (let index = begin; index < parts.length; index++) {
    const part = parts[index];
    if (part === undefined) break;
    const starts = index >= from && atMargin(part) && part.sort !== 'atom';
    if (starts && excess !== 0) return { parts: parts.slice(begin, index), excess, next: part };
    excess += depthAfter(part);
  }
  return excess === 0 ? undefined : { parts: parts.slice(begin), excess, next: undefined };
}

/** Returns the repair of REGION after which its indentation fits best. */
function bestRepair({ parts, excess }: Region): Candidate | undefined {
  const contradicted = indentationCost(parts).contradicted ?? parts.at(-1)?.line ?? 0;
  let best: { candidate: Candidate; cost: number } | undefined;
  let looks = 0;
  for (let index = parts.length - 1; index >= 0 && looks < LOOKS; index--) {
    const line = parts[index]?.line ?? 0;
    if (line > contradicted || line < contradicted - LINES_BACK) continue;
    for (const candidate of repairsAt(parts, index, excess)) {
      const cost = indentationCost(candidate.parts, best?.cost).cost + candidate.unlikely;
      if (best === undefined || cost < best.cost) best = { candidate, cost };
      looks += candidate.parts.length;
    }
  }
  return best?.candidate;
}

/** Returns what can be done at the INDEXth of PARTS about EXCESS parentheses. */
function repairsAt(parts: Element[], index: number, excess: number): Candidate[] {
  const part = parts[index];
  if (part === undefined) return [];
  const endsLine = parts[index + 1]?.leads ?? true;
  if (excess > 0) {
    return [
      ...(endsLine && part.sort !== 'prefix' ? [closedAfter(parts, index, part, excess)] : []),
      ...(excess === 1 && part.sort === 'open' ? [without(parts, index, part, 1)] : []),
    ];
  }
  const closes = parts
    .slice(index, index - excess)
    .filter(({ sort, line }) => sort === 'close' && line === part.line);
  return [
    ...(closes.length === -excess ? [without(parts, index, part, -excess)] : []),
    ...(excess === -1 && part.sort !== 'close' ? [openedBefore(parts, index, part)] : []),
  ];
}

/** Returns PARTS closed COUNT times after PART, the INDEXth. */
function closedAfter(parts: Element[], index: number, part: Element, count: number): Candidate {
  const close: Element = { ...part, sort: 'close', leads: false, line: part.endLine };
  const all = [...parts.slice(0, index + 1), ...Array<Element>(count).fill(close), ...parts.slice(index + 1)];
  const text = ')'.repeat(count);
  return { line: part.endLine, index: part.end, removed: 0, sign: ')', text, parts: all, unlikely: 0 };
}

/** Returns PARTS without the COUNT parentheses from PART on, the INDEXth. */
function without(parts: Element[], index: number, part: Element, count: number): Candidate {
  const rest = moved(parts.slice(index + count), part, -count);
  return {
    line: part.line,
    index: part.sort === 'open' ? part.end - 1 : part.start,
    removed: count,
    sign: part.sort === 'open' ? '(' : ')',
    text: '',
    parts: [...parts.slice(0, index), ...rest],
    unlikely: part.sort === 'open' ? UNLIKELY : 0,
  };
}

/** Returns PARTS with a list that begins before PART, the INDEXth. */
function openedBefore(parts: Element[], index: number, part: Element): Candidate {
  const open: Element = { ...part, sort: 'open', paren: part.column };
  const rest = moved(parts.slice(index), part, 1);
  const all = [...parts.slice(0, index), open, { ...part, leads: false }, ...rest.slice(1)];
  return {
    line: part.line,
    index: part.start,
    removed: 0,
    sign: '(',
    text: '(',
    parts: all,
    unlikely: UNLIKELY,
  };
}

/** Returns PARTS, which PART stood before, with those in its line COLUMNS further to the right. */
function moved(parts: Element[], { line, leads }: Element, columns: number): Element[] {
  const count = parts.findIndex((part) => part.line !== line);
  const same = parts.slice(0, count === -1 ? parts.length : count).map((part, index) => ({
    ...part,
    // What then leads the line stands where its first token stood.
    column: part.column + columns,
    paren: part.paren + columns,
    leads: columns < 0 && index === 0 ? leads : part.leads,
  }));
  return [...same, ...parts.slice(same.length)];
}
