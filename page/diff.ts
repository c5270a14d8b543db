// Shows the effect of a call: the lines of a unified diff in two columns, and lines outside of a diff as they are.

import { diffArrays } from 'diff';
import { element, shownText } from './dom.ts';

/** One side of a row: the number of a line, and its text. The text begins with a mark that shows the change without
 * colour. The note that a file has no newline at its end has no number. */
interface Side {
  number?: number;
  text: string;
  changed: boolean;
}

interface Row {
  before?: Side;
  after?: Side;
}

/** A part of a text: rows with two sides, or one line that is not part of a diff. */
type Part = { rows: Row[] } | { line: string };

/** Maximum number of rows in one element. The browser draws only the elements that are visible. */
const CHUNK = 100;

/** Returns an element that shows TEXT: what a call would do, from the question whether the call may run. */
export function diffElement(text: string): HTMLElement {
  const shown = element('div', { class: 'effect' });
  for (const part of partsOf(text)) {
    if ('line' in part) shown.append(lineElement(part.line));
    else shown.append(hunkElement(part.rows));
  }
  return shown;
}

function lineElement(line: string): HTMLElement {
  const isHead = line.startsWith('@@ -');
  const made = shownText('div', isHead ? 'hunk-head' : 'plain', line);
  if (line.startsWith('File ')) made.className = 'file-head';
  return made;
}

/** Splits TEXT into its hunks, as rows, and its other lines. In a hunk, the first character of a line is the mark of a
 * unified diff: `+`, `-` or a space. */
export function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let hunk: Hunk | undefined;
  for (const line of text.split('\n')) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (head !== null) {
      hunk = new Hunk(Number(head[1]), Number(head[3]));
      parts.push({ line }, { rows: hunk.rows });
      continue;
    }
    // The diff of a new file has no hunk header.
    if (hunk === undefined && line.startsWith('+')) {
      hunk = new Hunk(1, 1);
      parts.push({ rows: hunk.rows });
    }
    if (hunk?.takes(line) === true) continue;
    hunk = undefined;
    parts.push({ line });
  }
  return parts;
}

/** Collects the rows of a hunk of a diff. Its constructor takes the line numbers at which the hunk begins before and
 * after the change. */
class Hunk {
  readonly rows: Row[] = [];
  #nextBefore: number;
  #nextAfter: number;
  /** The rows of removed lines that are not yet paired with an added line. */
  #removed: Row[] = [];
  /** True when the last line of the hunk so far is an added line. */
  #adds = false;

  constructor(before: number, after: number) {
    this.#nextBefore = before;
    this.#nextAfter = after;
  }

  /** Adds LINE if it belongs to the hunk, and returns whether it does. */
  takes(line: string): boolean {
    const mark = line.charAt(0);
    if (!/^[-+ \\]/.test(line)) return false;
    // The note that a file has no newline at its end belongs to the line before it.
    if (mark === '\\') {
      const note = { text: line, changed: true };
      this.rows.push(this.#adds ? { after: note } : { before: note });
      return true;
    }
    // Added lines stand beside the removed lines directly before them.
    if (mark === ' ' || (mark === '-' && this.#adds)) this.#removed = [];
    this.#adds = mark === '+';
    const side = (number: number): Side => ({ number, text: line, changed: mark !== ' ' });
    if (mark === '+') {
      const after = side(this.#nextAfter++);
      const beside = this.#removed.shift();
      if (beside === undefined) this.rows.push({ after });
      else beside.after = after;
      return true;
    }
    const row: Row = { before: side(this.#nextBefore++) };
    if (mark === ' ') row.after = side(this.#nextAfter++);
    else this.#removed.push(row);
    this.rows.push(row);
    return true;
  }
}

function hunkElement(rows: readonly Row[]): HTMLElement {
  const set = { role: 'table', 'aria-label': 'Lines before and after', 'aria-rowcount': String(rows.length) };
  const table = element('div', { class: 'hunk', set });
  for (let from = 0; from < rows.length; from += CHUNK) {
    const some = rows.slice(from, from + CHUNK);
    const chunk = element('div', { class: 'chunk', set: { role: 'rowgroup' } });
    // The scroll bar needs the height of rows that are not drawn yet.
    chunk.style.containIntrinsicBlockSize = `auto ${some.length * 1.4}em`;
    chunk.append(...some.map(rowElement));
    table.append(chunk);
    unmarked.set(chunk, some);
    seen.observe(chunk);
  }
  return table;
}

/** Maps the element of a chunk in which the changed words are not marked yet to its rows. */
const unmarked = new WeakMap<Element, readonly Row[]>();

/** Marks the changed words of a chunk shortly before it becomes visible. To compare all lines of a long diff at once
 * would take seconds. */
const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      for (const [index, row] of (unmarked.get(target) ?? []).entries())
        markWords(row, target.children[index]);
    }
  },
  { rootMargin: '500px' },
);

/** Matches a name or another run of characters, white space, or a character that ends a name in Lisp. */
const TOKEN = /\s+|[()'"`,;]|[^\s()'"`,;]+/g;
/** Maximum number of tokens in which two lines may differ if their words are to be marked. */
const EDIT_LIMIT = 200;

/** Marks the words in which the two sides of ROW differ. SHOWN is the element of ROW. */
function markWords({ before, after }: Row, shown: Element | undefined): void {
  if (!before?.changed || !after?.changed) return;
  const [old, now] = [before, after].map(({ text }) => text.slice(1).match(TOKEN) ?? []);
  const changes = diffArrays(old ?? [], now ?? [], { maxEditLength: EDIT_LIMIT });
  // If two lines have no word in common, no words are marked.
  if (!changes?.some(({ added, removed, value }) => !added && !removed && /\w/.test(value.join('')))) return;
  const [oldCell, newCell] = shown?.querySelectorAll('.text') ?? [];
  const parts = (side: Side, mark: 'ins' | 'del') => [
    side.text.charAt(0),
    ...changes
      .filter((change) => !(mark === 'ins' ? change.removed : change.added))
      .map(({ added, removed, value }) =>
        added || removed ? shownText(mark, '', value.join('')) : value.join(''),
      ),
  ];
  oldCell?.replaceChildren(...parts(before, 'del'));
  newCell?.replaceChildren(...parts(after, 'ins'));
}

function rowElement({ before, after }: Row): HTMLElement {
  const row = element('div', { class: 'row', set: { role: 'row' } });
  row.append(...sideElements(before, 'removed'), ...sideElements(after, 'added'));
  if (before !== undefined && after !== undefined && !before.changed && !after.changed)
    row.classList.add('same');
  return row;
}

/** Returns the two cells of SIDE, for the line number and the line. CHANGE is the class of a changed line. */
function sideElements(side: Side | undefined, change: string): HTMLElement[] {
  const kind = side === undefined ? 'absent' : side.changed ? change : 'kept';
  const cell = (name: string, text: string) => {
    const made = shownText('div', `${name} ${kind}`, text);
    made.setAttribute('role', 'cell');
    return made;
  };
  return [cell('number', String(side?.number ?? '')), cell('text', side?.text ?? '')];
}
