// Shows the effect of a call: the lines of a unified diff side by side, and other lines as they are.

import { diffArrays } from 'diff';
import { element, shownText } from './dom.ts';

/** One side of a row: the number of a line, and its text, with the mark that shows a change without colour. A
 *  note has no number. */
interface Side {
  number?: number;
  text: string;
  changed: boolean;
}

interface Row {
  before?: Side;
  after?: Side;
}

/** A part of a text: lines that stand side by side, or one line across. */
type Part = { rows: Row[] } | { line: string };

/** Maximum number of rows in an element. The browser draws only the elements that can be seen. */
const CHUNK = 100;

/** Returns an element that shows TEXT of a question. */
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

/** Returns TEXT as parts. The first characters of lines are the server's: `+`, `-` and a blank within a hunk of a
 *  diff. */
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
    // A new file has no head.
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

/** The rows of a hunk, which begins at these lines of both sides. */
class Hunk {
  readonly rows: Row[] = [];
  #before: number;
  #after: number;
  /** The rows of removed lines that have no added line beside them yet. */
  #removed: Row[] = [];
  /** True when the last line was an added one. */
  #adds = false;

  constructor(before: number, after: number) {
    this.#before = before;
    this.#after = after;
  }

  /** Adds LINE, if it is a line of a hunk. */
  takes(line: string): boolean {
    const mark = line.charAt(0);
    if (!' -+\\'.includes(mark) || mark === '') return false;
    // The note that a file has no newline at its end is about the line before it.
    if (mark === '\\') {
      const note = { text: line, changed: true };
      this.rows.push(this.#adds ? { after: note } : { before: note });
      return true;
    }
    if (mark === ' ' || (mark === '-' && this.#adds)) this.#removed = [];
    this.#adds = mark === '+';
    const before = mark === '+' ? undefined : { number: this.#before++, text: line, changed: mark === '-' };
    const after = mark === '-' ? undefined : { number: this.#after++, text: line, changed: mark === '+' };
    const beside = before === undefined ? this.#removed.shift() : undefined;
    if (beside !== undefined && after !== undefined) beside.after = after;
    else {
      const row = { ...(before && { before }), ...(after && { after }) };
      this.rows.push(row);
      if (mark === '-') this.#removed.push(row);
    }
    return true;
  }
}

function hunkElement(rows: readonly Row[]): HTMLElement {
  const set = { role: 'table', 'aria-label': 'Lines before and after', 'aria-rowcount': String(rows.length) };
  const table = element('div', { class: 'hunk', set });
  for (let from = 0; from < rows.length; from += CHUNK) {
    const some = rows.slice(from, from + CHUNK);
    const chunk = element('div', { class: 'chunk', set: { role: 'rowgroup' } });
    // The height of lines that are not drawn yet, for the scroll bar.
    chunk.style.containIntrinsicBlockSize = `auto ${some.length * 1.4}em`;
    chunk.append(...some.map(rowElement));
    table.append(chunk);
    pairs.set(chunk, some);
    seen.observe(chunk);
  }
  return table;
}

/** The rows of the chunks whose changed words are not marked yet. */
const pairs = new WeakMap<Element, readonly Row[]>();

/** Marks the changed words of a chunk once it is about to be seen, because to compare all lines of a long diff takes
 *  seconds. */
const seen = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      for (const [index, row] of (pairs.get(target) ?? []).entries()) markWords(row, target.children[index]);
    }
  },
  { rootMargin: '500px' },
);

/** A name or another run of characters, blanks, or a character that ends a name in Lisp. */
const TOKEN = /\s+|[()'"`,;]|[^\s()'"`,;]+/g;
/** Maximum number of differing tokens of two lines whose words are marked. */
const EDIT_LIMIT = 200;

/** Marks in SHOWN, the element of ROW, the words in which its two changed lines differ. */
function markWords({ before, after }: Row, shown: Element | undefined): void {
  if (!before?.changed || !after?.changed) return;
  const [old, now] = [before, after].map(({ text }) => text.slice(1).match(TOKEN) ?? []);
  const changes = diffArrays(old ?? [], now ?? [], { maxEditLength: EDIT_LIMIT });
  // Lines without a word in common differ as a whole.
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

/** Returns the cells of SIDE: the number of the line, and the line. CHANGE is the class of a line that changes. */
function sideElements(side: Side | undefined, change: string): HTMLElement[] {
  const kind = side === undefined ? 'absent' : side.changed ? change : 'kept';
  const cell = (name: string, text: string) => {
    const made = shownText('div', `${name} ${kind}`, text);
    made.setAttribute('role', 'cell');
    return made;
  };
  return [cell('number', String(side?.number ?? '')), cell('text', side?.text ?? '')];
}
