/** Holds the tree of a Lisp text: its tokens and the matches of its parentheses, which do not depend on features.
 * `form.ts` reads forms from it. The trees of texts that were used lately are cached. */

import { nextToken, tokenName } from './lexer.ts';

/** A half-open span of a text, in UTF-16 indices. */
export interface Span {
  start: number;
  end: number;
}

/** The tokens of a text by number, in text order; see Token. Reads the text only as far as a caller needs. The kind is
 * 'end' past the last token, and where the text is unreadable. */
export class Tree {
  readonly text: string;
  // Objects, or arrays of JavaScript numbers, would take several times the memory.
  readonly #kinds = new Numbers();
  readonly #starts = new Numbers();
  readonly #ends = new Numbers();
  /** Indexed by token number: for an opening parenthesis, the number of the token after the closing one; else 0. */
  readonly #tokensAfterLists = new Numbers();
  /** Numbers of the opening tokens whose closing token was not read yet. */
  readonly #open: number[] = [];
  #at: number;
  #done = false;

  constructor(text: string, from = 0) {
    this.text = text;
    this.#at = from;
  }

  /** Reads up to COUNT more tokens. Returns false when no more can follow. */
  read(count: number): boolean {
    for (let read = 0; read < count && !this.#done; read++) this.#readToken();
    return !this.#done;
  }

  #readToken(): void {
    const { kind, start, end } = nextToken(this.text, this.#at);
    this.#at = kind === 'end' ? start : end;
    this.#done = kind === 'end';
    if (this.#done) {
      for (const numbers of [this.#kinds, this.#starts, this.#ends, this.#tokensAfterLists]) numbers.trim();
      return;
    }
    const number = this.#kinds.length;
    this.#kinds.push(codeOf(kind));
    this.#starts.push(start);
    this.#ends.push(end);
    this.#tokensAfterLists.push(0);
    const opened = kind === ')' ? this.#open.pop() : undefined;
    if (opened !== undefined) this.#tokensAfterLists.set(opened, number + 1);
    if (kind === '(' || kind === '#(') this.#open.push(number);
  }

  /** Returns the number of the first token that begins at or after INDEX. */
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

  /** Returns the start of the token; past the last token, the index where reading stopped. */
  start(number: number): number {
    return this.kind(number) === 'end' ? this.#at : (this.#starts.at(number) as number);
  }

  end(number: number): number {
    return this.kind(number) === 'end' ? this.#at : (this.#ends.at(number) as number);
  }

  /** Returns the name of the token, which `kind` must have read before; '' for a number after a radix prefix, as in
   * #x FF. */
  name(number: number): string {
    if (RADIX.test(this.#kindRead(number - 1) ?? '')) return '';
    return tokenName(this.kind(number), this.text.slice(this.start(number), this.end(number)));
  }

  /** Returns the number of the token after the list that token NUMBER opens; undefined if the list is not closed. */
  tokenAfterList(number: number): number | undefined {
    while (this.kind(number) !== 'end' && !this.#tokensAfterLists.at(number) && this.read(1));
    return this.#tokensAfterLists.at(number) || undefined;
  }

  count(): number {
    this.read(Number.POSITIVE_INFINITY);
    return this.#kinds.length;
  }

  /** The offset of the first part that cannot be read, such as a string that is not closed; undefined when there is
   * none. */
  get unreadableAt(): number | undefined {
    this.count();
    return this.#at < this.text.length ? this.#at : undefined;
  }

  /** Returns the text of the tokens with the numbers from FROM to TOKEN_AFTER - 1, as one line without comments. */
  oneLine(from: number, tokenAfter: number): string {
    let line = '';
    for (let number = from; number < tokenAfter; number++) {
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

/** A list of numbers below 2^32, in four octets each. */
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

  trim(): void {
    this.#numbers = this.#numbers.slice(0, this.length);
  }

  at(index: number): number | undefined {
    return index < this.length ? this.#numbers[index] : undefined;
  }

  set(index: number, number: number): void {
    this.#numbers[index] = number;
  }
}

/** All kinds that any tree has had so far. Trees store the index of a kind in this list. CODES has these indexes. */
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

/** Matches the kind of a radix prefix that is a token of its own, as in #x FF. The lexer reads #xFF as one atom. */
export const RADIX = /^#[brox]$/;

export function isFeature(kind: string): boolean {
  return kind === '#+' || kind === '#-';
}

/** The kinds that are no prefixes. '##' is a reference such as #1#. */
const FORMS = new Set(['atom', '(', '#(', ')', '.', '##', '#+', '#-', 'end']);

/** Returns true when a token of KIND is part of the form after it, as `'` is. */
export function isPrefix(kind: string): boolean {
  return !FORMS.has(kind);
}

/** Limit of the total size of the texts with cached trees. */
const CACHE_LIMIT = 2 * 1024 * 1024;
/** Added to the length of each text, so that many short texts reach the limit too. */
const ENTRY_OVERHEAD = 1000;

// The cache has two generations: when `young` is full, it replaces `old`. With one map, from which the oldest entries
// are deleted one by one, the search for the oldest entry would pass all deleted ones, which is too slow. `size` is the
// total size of `young`.
let [young, old, size] = [new Map<string, Tree>(), new Map<string, Tree>(), 0];

/** Returns the tree of TEXT. Returns the same object again if TEXT was used lately. */
export function treeOf(text: string): Tree {
  const known = young.get(text);
  if (known !== undefined) return known;
  const tree = old.get(text) ?? new Tree(text);
  size += text.length + ENTRY_OVERHEAD;
  if (size > CACHE_LIMIT / 2) [young, old, size] = [new Map(), young, text.length + ENTRY_OVERHEAD];
  young.set(text, tree);
  return tree;
}
