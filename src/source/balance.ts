// Finds where a Lisp text lacks parentheses or has too many, judging by its indentation.

import { nextToken } from './lexer.ts';

/** A fault in the parentheses or the quotes of a text. Line numbers are 1-based. */
export interface Imbalance {
  /** 'open': a list is not closed. 'string': a string or |symbol| is not closed. 'comment': a #| is not closed.
   * 'closed': a `)` has no opening parenthesis. */
  kind: 'open' | 'string' | 'comment' | 'closed';
  /** The line in which the unbalanced form, string or comment begins. */
  began: number;
  /** The line whose indentation shows that a parenthesis is missing or superfluous. */
  line: number;
  /** An edit in `line` that balances the text; absent when none was found. */
  repair?: Repair;
  /** The line of the next top-level form, which the reader would take for a part of the unclosed form. Absent when no
   * such form follows. */
  swallowed?: number;
}

/** An edit at the index `index` of the text: removes `removed` parentheses of the kind `sign`, or inserts `text` if
 * `removed` is 0. */
interface Repair {
  index: number;
  removed: number;
  sign: '(' | ')';
  text: string;
}

/** A token with its place. `column` is 0-based. `leads` is true for the first token of a line. */
interface Placed {
  sort: 'open' | 'close' | 'prefix' | 'atom';
  start: number;
  end: number;
  line: number;
  /** The line in which the token ends: a string can span lines. */
  endLine: number;
  column: number;
  leads: boolean;
}

/** A part of a text whose parentheses do not balance. `began` and `lastLine` are its first and last lines. `excess` is
 * the number of opening parentheses minus the number of closing ones. `tokens` is empty if there are more than
 * TOKEN_LIMIT. `next` is the first token of the next top-level form. */
interface Region {
  tokens: readonly Placed[];
  began: number;
  lastLine: number;
  excess: number;
  next?: Placed;
}

/** Returns the imbalance of parentheses or string quotes in TEXT; undefined when they balance. */
export function imbalanceOf(text: string): Imbalance | undefined {
  // If a string lacks its closing quote, the code up to the next quote becomes part of it. So the first string in which
  // a line begins with a parenthesis most likely lacks its quote.
  let swallowing: number | undefined;
  let read = 0;
  const region = unbalancedRegion(placedTokens(text), ({ start, end, line, endLine }) => {
    if (endLine > line && text.slice(start, end).includes('\n(')) swallowing ??= start;
    read = end;
  });
  // If placedTokens has stopped before an incomplete token, it begins here.
  const { start } = nextToken(text, read);
  if (start < text.length) {
    const isComment = text.startsWith('#|', start);
    const line = text.slice(0, isComment ? start : (swallowing ?? start)).split('\n').length;
    return { kind: isComment ? 'comment' : 'string', began: line, line };
  }
  if (region === undefined) return undefined;
  const repair = bestRepair(region);
  const open = region.excess > 0;
  return {
    kind: open ? 'open' : 'closed',
    began: region.began,
    line: repair?.line ?? region.lastLine,
    ...(repair && { repair: repair.edit }),
    ...(open && region.next && { swallowed: region.next.line }),
  };
}

/** Yields the tokens of TEXT. Stops before a token that is incomplete, such as a string without its closing quote. */
function* placedTokens(text: string): Generator<Placed> {
  let [line, lastLine, column, at] = [1, 0, 0, 0];
  for (let token = nextToken(text, 0); token.kind !== 'end'; token = nextToken(text, at)) {
    const { kind, start, end } = token;
    ({ line, column } = advanced(text, at, start, { line, column }));
    const after = advanced(text, start, end, { line, column });
    yield { sort: sortOf(kind), start, end, line, endLine: after.line, column, leads: line !== lastLine };
    ({ line, column } = after);
    lastLine = line;
    at = end;
  }
}

/** Returns the line and column at END of TEXT when those at START are given. Tab stops are 8 columns apart. */
function advanced(text: string, start: number, end: number, from: { line: number; column: number }) {
  let { line, column } = from;
  for (const char of text.slice(start, end)) {
    column += char === '\t' ? 8 - (column % 8) : 1;
    if (char === '\n') [line, column] = [line + 1, 0];
  }
  return { line, column };
}

function sortOf(kind: string): Placed['sort'] {
  if (kind.endsWith('(')) return 'open';
  if (kind === ')') return 'close';
  // The kind ## is that of a reference such as #1#.
  return kind === 'atom' || kind === '.' || kind === '##' ? 'atom' : 'prefix';
}

/** Returns the first part of TOKENS whose parentheses do not balance; undefined when all balance. The part begins and
 * ends at forms at the left margin, because people indent all other forms. Passes each token to NOTE. */
function unbalancedRegion(tokens: Iterable<Placed>, note: (token: Placed) => void): Region | undefined {
  let kept: Placed[] = [];
  let [began, lastLine, depth, closesNothing] = [0, 0, 0, false];
  // The tokens up to the first form at the margin within an open form. Dropped when the open form is closed.
  let unclosed: Region | undefined;
  // The tokens up to the first form at the margin after a parenthesis that closes nothing.
  let overclosed: Region | undefined;
  const region = (next?: Placed): Region => {
    const all = kept.length > TOKEN_LIMIT ? [] : kept.slice();
    return { tokens: all, began, lastLine, excess: depth, ...(next && { next }) };
  };
  for (const token of tokens) {
    note(token);
    if (overclosed !== undefined) continue; // Only NOTE needs the rest.
    const isAtMargin = token.leads && token.column === 0 && token.sort !== 'close';
    if (isAtMargin && depth === 0 && !closesNothing) {
      [kept, began, unclosed] = [[], token.line, undefined];
    } else if (isAtMargin && token.sort !== 'atom') {
      if (closesNothing) {
        overclosed = region(token);
        continue;
      }
      unclosed ??= region(token);
    }
    if (began === 0) began = token.line;
    if (kept.length <= TOKEN_LIMIT) kept.push(token);
    lastLine = token.line;
    if (token.sort === 'open') depth++;
    if (token.sort === 'close') depth--;
    if (depth < 0) closesNothing = true;
  }
  if (overclosed !== undefined || (depth === 0 && !closesNothing)) return overclosed;
  return (closesNothing ? undefined : unclosed) ?? region();
}

/** Maximum number of tokens of a region in which a repair is searched. A larger region is most likely a data table. */
const TOKEN_LIMIT = 30_000;

/** Maximum number of tokens to read for all tried repairs together. Each try reads the rest of the form. */
const READ_LIMIT = 600_000;

/** Added cost of a repair that changes an opening parenthesis. People miscount closing parentheses more often. */
const UNLIKELY = 0.5;

/** A repair, and its effect on the tokens: those with the indices from `from` to `to` - 1 are replaced by `added`, and
 * the rest of `line` moves by `shift` columns. */
interface Candidate {
  edit: Repair;
  line: number;
  from: number;
  to: number;
  added: readonly Placed[];
  shift: number;
  cost: number;
}

/** Returns the repair after which the lines fit the parentheses best; undefined when there are no tokens. The fault is
 * in the first line whose indentation contradicts the parentheses, or above it, so repairs are tried from there
 * backwards. */
function bestRepair({ tokens, excess }: Region): Candidate | undefined {
  // The reading with index I is the state before the token with index I.
  const readings = [NOTHING_READ];
  for (const [index, token] of tokens.entries()) readings.push(readOn(readings[index] as Reading, token));
  const contradicted = readings.at(-1)?.contradicted ?? tokens.at(-1)?.line ?? 0;
  let best: Candidate | undefined;
  let lowest = Number.POSITIVE_INFINITY;
  let reads = 0;
  // Number of consecutive closing parentheses from this token on, within its line.
  let closes = 0;
  for (let index = tokens.findLastIndex(({ line }) => line <= contradicted); index >= 0; index--) {
    if (reads > READ_LIMIT) break;
    const [token, next] = [tokens[index], tokens[index + 1]];
    closes = token?.sort !== 'close' ? 0 : next?.line === token.line ? closes + 1 : 1;
    for (const candidate of candidatesAt(tokens, index, excess, closes)) {
      let reading = readings[candidate.from] as Reading;
      for (const added of candidate.added) reading = readOn(reading, added);
      reads += candidate.added.length;
      // A cost above this limit cannot be the lowest. For equal costs, the later place in the text stays the best.
      const limit = lowest - candidate.cost;
      for (let rest = candidate.to; rest < tokens.length && reading.cost <= limit; rest++, reads++) {
        const later = tokens[rest] as Placed;
        reading = readOn(reading, later.line === candidate.line ? moved(later, candidate.shift) : later);
      }
      const cost = candidate.cost + reading.cost + CONTRADICTION * reading.depth;
      if (cost < lowest) [best, lowest] = [candidate, cost];
    }
  }
  return best;
}

function moved(token: Placed, shift: number): Placed {
  return { ...token, column: token.column + shift };
}

/** Returns the edits at the token with the index INDEX that would balance the parentheses of the region. EXCESS is the
 * number of opening parentheses in the region minus the number of closing ones. CLOSES is the number of consecutive
 * closing parentheses from this token on, within its line. */
function candidatesAt(tokens: readonly Placed[], index: number, excess: number, closes: number): Candidate[] {
  const [token, next] = [tokens[index] as Placed, tokens[index + 1]];
  const { sort, line, leads, start, end, endLine } = token;
  const found: Candidate[] = [];
  const endsLine = next?.leads ?? true;
  const removal = (count: number, sign: '(' | ')', cost: number) => {
    const edit = { index: sign === '(' ? end - 1 : start, removed: count, sign, text: '' };
    const follower = tokens[index + count];
    const added = follower?.line === line ? [{ ...moved(follower, -count), leads }] : [];
    found.push({ edit, line, from: index, to: index + count + added.length, added, shift: -count, cost });
  };
  // A candidate: insert all missing closing parentheses at the end of the line.
  if (excess > 0 && endsLine && sort !== 'prefix') {
    const edit = { index: end, removed: 0, sign: ')' as const, text: ')'.repeat(excess) };
    const close = { ...token, sort: 'close' as const, leads: false, line: endLine };
    const added = Array<Placed>(excess).fill(close);
    found.push({ edit, line: endLine, from: index + 1, to: index + 1, added, shift: 0, cost: 0 });
  }
  if (excess === 1 && sort === 'open') removal(1, '(', UNLIKELY);
  if (excess < 0 && closes >= -excess) removal(-excess, ')', 0);
  // The one missing opening parenthesis before the token.
  if (excess === -1 && sort !== 'close') {
    const edit = { index: start, removed: 0, sign: '(' as const, text: '(' };
    const added = [
      { ...token, sort: 'open' as const, end: start + 1 },
      { ...moved(token, 1), leads: false },
    ];
    found.push({ edit, line, from: index, to: index + 1, added, shift: 1, cost: UNLIKELY });
  }
  return found;
}

/** An open list. `around` is the list outside of it. */
interface OpenList {
  /** The column of its parenthesis, which in #( is after the #. */
  readonly paren: number;
  /** The columns at which the elements of this list begin. */
  readonly columns: Columns;
  readonly around: OpenList | undefined;
}

/** Columns in a list, as a linked list with the latest first. */
type Columns = { readonly column: number; readonly before: Columns } | undefined;

/** The state after reading some tokens. It is immutable, so that each repair can be tried from it. */
interface Reading {
  /** Sum of the costs so far: 0 when each line fits. */
  readonly cost: number;
  /** The first line whose indentation contradicts the nesting; undefined when there is none so far. */
  readonly contradicted: number | undefined;
  readonly open: OpenList | undefined;
  readonly depth: number;
  /** Whether the last token was a prefix, such as '. A prefix and the form after it count as one element. */
  readonly prefixed: boolean;
}

const NOTHING_READ: Reading = {
  cost: 0,
  contradicted: undefined,
  open: undefined,
  depth: 0,
  prefixed: false,
};

/** The cost of a line whose column is impossible: a line in a list that begins at or left of the parenthesis of this
 * list, or an indented line at top level. */
const CONTRADICTION = 10;

/** Maximum number of elements of a list whose columns are compared with the indentation of a line. */
const COMPARED = 200;

/** Returns the state after TOKEN, given the state BEFORE it. */
function readOn(before: Reading, token: Placed): Reading {
  const { open, depth, cost, contradicted, prefixed } = before;
  const { sort, column, leads, line } = token;
  if (sort === 'close') {
    if (open !== undefined) return { ...before, open: open.around, depth: depth - 1 };
    return { ...before, cost: cost + CONTRADICTION, contradicted: contradicted ?? line };
  }
  const paid = leads && !prefixed ? lineCost(open, column) : 0;
  const list = prefixed ? open : open && { ...open, columns: { column, before: open.columns } };
  const paren = column + token.end - token.start - 1;
  return {
    cost: cost + paid,
    contradicted: contradicted ?? (paid >= CONTRADICTION ? line : undefined),
    open: sort === 'open' ? { paren, columns: undefined, around: list } : list,
    depth: sort === 'open' ? depth + 1 : depth,
    prefixed: sort === 'prefix',
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

/** Returns the cost of a line that begins in COLUMN within LIST, or at top level if LIST is undefined. The cost is 0 in
 * the column of the previous element and, as for a body, two columns right of the parenthesis. It is
 * lower in the column of an earlier element than in any other column. */
function lineCost(list: OpenList | undefined, column: number): number {
  if (list === undefined) return column === 0 ? 0 : CONTRADICTION;
  if (column <= list.paren) return CONTRADICTION;
  if (list.columns?.column === column || column === list.paren + 2) return 0;
  return has(list.columns, column) ? 1 : 3;
}
