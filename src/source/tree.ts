/** The tree of a Lisp text: its tokens, and which parentheses belong together. It has all that is written, whatever the
 *  features, and is kept for the texts that were asked for last. `form.ts` reads it. */

import { nameOf, nextToken } from './lexer.ts';

/** A half-open span of a text, in UTF-16 indices. */
export interface Span {
  start: number;
  end: number;
}

/** The tokens of a text by number, in its order; see Token. It reads as far as it is asked. Past the last token, and
 *  where the text cannot be read any further, the kind is 'end'. */
export class Tree {
  readonly text: string;
  // An object for each token, or an array of JavaScript's own numbers, would take several times as much memory.
  readonly #kinds = new Numbers();
  readonly #starts = new Numbers();
  readonly #ends = new Numbers();
  /** By opening parenthesis: the number of the token behind the closing one; 0 for others. */
  readonly #behind = new Numbers();
  /** The lists that are open where reading stopped. */
  readonly #open: number[] = [];
  /** The tokens with which an element that stands in no list begins. */
  readonly #tops: number[] = [];
  #at: number;
  #done = false;
  #labels: Map<string, number[]> | undefined;

  /** Begins at index FROM of TEXT. */
  constructor(text: string, from = 0) {
    this.text = text;
    this.#at = from;
  }

  /** Reads COUNT more tokens. Returns whether the text goes on. */
  read(count: number): boolean {
    for (let read = 0; read < count && !this.#done; read++) this.#readToken();
    return !this.#done;
  }

  #readToken(): void {
    const { kind, start, end } = nextToken(this.text, this.#at);
    this.#at = kind === 'end' ? start : end;
    this.#done = kind === 'end';
    if (this.#done) {
      for (const numbers of [this.#kinds, this.#starts, this.#ends, this.#behind]) numbers.trim();
      return;
    }
    const number = this.#kinds.length;
    if (this.#open.length === 0 && !isPrefix(this.#kindRead(number - 1) ?? 'atom')) this.#tops.push(number);
    this.#kinds.push(codeOf(kind));
    this.#starts.push(start);
    this.#ends.push(end);
    this.#behind.push(0);
    const opened = kind === ')' ? this.#open.pop() : undefined;
    if (opened !== undefined) this.#behind.set(opened, number + 1);
    if (kind === '(' || kind === '#(') this.#open.push(number);
  }

  /** Returns the number of the first token that begins at or behind INDEX. */
  tokenAt(index: number): number {
    while (this.#at < index && this.read(1));
    return firstFrom(this.#starts, index);
  }

  #kindRead(number: number): string | undefined {
    return KINDS[this.#kinds.at(number) ?? -1];
  }

  kind(number: number): string {
    while (number >= this.#kinds.length && this.read(1));
    return this.#kindRead(number) ?? 'end';
  }

  /** Returns where the token begins; past the last one where reading stopped. */
  start(number: number): number {
    return this.kind(number) === 'end' ? this.#at : (this.#starts.at(number) as number);
  }

  end(number: number): number {
    return this.kind(number) === 'end' ? this.#at : (this.#ends.at(number) as number);
  }

  /** Returns the name of the token; '' for a number behind a radix prefix, as in #x FF. */
  name(number: number): string {
    if (RADIX.test(this.#kindRead(number - 1) ?? '')) return '';
    return nameOf(this.kind(number), this.text.slice(this.start(number), this.end(number)));
  }

  /** Returns the number of the first token after a list. NUMBER is the token that opens the list. Returns undefined
   *  when the text does not close the list. */
  behind(number: number): number | undefined {
    while (this.kind(number) !== 'end' && !this.#behind.at(number) && this.read(1));
    return this.#behind.at(number) || undefined;
  }

  /** Returns the number of tokens. */
  count(): number {
    this.read(Number.POSITIVE_INFINITY);
    return this.#kinds.length;
  }

  /** The offset of the first unreadable part, such as a string that is not closed. */
  get cut(): number | undefined {
    this.count();
    return this.#at < this.text.length ? this.#at : undefined;
  }

  /** Returns the last label #N= before the token NUMBER, which is #N#, in the same top-level form; undefined without
   *  one. */
  labelOf(number: number): number | undefined {
    if (this.#labels === undefined) {
      this.#labels = new Map();
      for (let each = 0; each < this.count(); each++) {
        if (this.kind(each) !== '#=') continue;
        const known = this.#labels.get(this.name(each));
        if (known === undefined) this.#labels.set(this.name(each), [each]);
        else known.push(each);
      }
    }
    const labels = this.#labels.get(this.name(number)) ?? [];
    const label = labels[firstFrom(labels, number) - 1] ?? -1;
    return label < (this.#tops[firstFrom(this.#tops, number + 1) - 1] ?? 0) ? undefined : label;
  }

  /** Returns the text of the tokens from FROM to BEHIND - 1 on one line, without comments. */
  line(from: number, behind: number): string {
    let line = '';
    for (let number = from; number < behind; number++) {
      const apart = number > from && this.start(number) > this.end(number - 1);
      if (apart && this.kind(number) !== ')' && !this.kind(number - 1).endsWith('(')) line += ' ';
      line += this.text.slice(this.start(number), this.end(number)).replace(/\s+/g, ' ');
    }
    return line;
  }

  /** Yields the spans of comments and white space. */
  *gaps(): Generator<Span, void> {
    for (let [number, end] = [0, 0]; number <= this.count(); end = this.end(number++))
      if (this.start(number) > end) yield { start: end, end: this.start(number) };
  }
}

/** A list of numbers below 2^32, each in four octets. */
class Numbers {
  #numbers = new Uint32Array(16);
  length = 0;

  push(number: number): void {
    if (this.length === this.#numbers.length) {
      const longer = new Uint32Array(Math.ceil(this.length * 1.5));
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    this.#numbers[this.length++] = number;
  }

  /** Gives back the room that further numbers would need. */
  trim(): void {
    this.#numbers = this.#numbers.slice(0, this.length);
  }

  /** Returns the number at INDEX; undefined where there is none. */
  at(index: number): number | undefined {
    return index < this.length ? this.#numbers[index] : undefined;
  }

  set(index: number, number: number): void {
    this.#numbers[index] = number;
  }
}

/** The kinds of tokens that were read, and by kind its index. */
const KINDS: string[] = [];
const CODES = new Map<string, number>();

function codeOf(kind: string): number {
  const known = CODES.get(kind);
  if (known !== undefined) return known;
  CODES.set(kind, KINDS.length);
  return KINDS.push(kind) - 1;
}

/** Returns the index of the first number in SORTED that is at least LIMIT; its length when there is none. */
function firstFrom(sorted: Pick<readonly number[], 'at' | 'length'>, limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted.at(middle) as number) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Matches the kind of a radix prefix. */
export const RADIX = /^#[brox]$/;

/** Whether a token of KIND is #+ or #-. */
export function isFeature(kind: string): boolean {
  return kind === '#+' || kind === '#-';
}

const FORMS = new Set(['atom', '(', '#(', ')', '.', '##', '#+', '#-', 'end']);

/** Whether a token of KIND belongs to the form behind it, as `'` does. */
export function isPrefix(kind: string): boolean {
  return !FORMS.has(kind);
}

/** At most this many characters of texts have their trees kept, each counted with EACH more. */
const KEPT = 2 * 1024 * 1024;
const EACH = 1000;

// Two generations: a single map from which the oldest entry is deleted each time would be slow, since to find that entry
// it passes over all those deleted before.
let [young, old, size] = [new Map<string, Tree>(), new Map<string, Tree>(), 0];

/** Returns the tree of TEXT. */
export function treeOf(text: string): Tree {
  const known = young.get(text);
  if (known !== undefined) return known;
  const tree = old.get(text) ?? new Tree(text);
  size += text.length + EACH;
  if (size > KEPT / 2) [young, old, size] = [new Map(), young, text.length + EACH];
  young.set(text, tree);
  return tree;
}
