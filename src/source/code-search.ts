// Searches a Lisp text by tokens, so that names in comments and strings do not match.

import { bare, MARK, type Token, tokensOf } from './lexer.ts';

/** A match: UTF-16 indices where it begins and ends. */
export type Occurrence = [start: number, end: number];

/** Tokens after which a search pauses, so that other requests can run. */
const SLICE = 4096;

/** Returns a function that finds PATTERN, one or more Lisp tokens, in a text. White space between tokens does not
 *  matter, and an unqualified symbol matches that name in all packages. The generator yields undefined after every
 *  SLICE tokens, so that its caller can let other requests run. Returns undefined when PATTERN has no token. */
export function codeFinder(
  pattern: string,
): ((text: string) => Generator<Occurrence | undefined>) | undefined {
  const wanted = [...tokensOf(pattern)];
  if (wanted.length === 0) return undefined;
  const keys = wanted.map((token) => ({
    whole: isWhole(token),
    key: keyOf(token, pattern, !isWhole(token)),
  }));
  return function* (text) {
    // Ring buffer: the starts and keys of the last tokens, as many as the pattern has.
    const last: { start: number; bare: string; whole: string }[] = [];
    let count = 0;
    for (const token of tokensOf(text)) {
      const { start } = token;
      last[count % wanted.length] = {
        start,
        bare: keyOf(token, text, true),
        whole: keyOf(token, text, false),
      };
      count += 1;
      const first = last[count % wanted.length];
      const isMatch = keys.every(({ whole, key }, index) => {
        const there = last[(count + index) % wanted.length];
        return (whole ? there?.whole : there?.bare) === key;
      });
      if (isMatch && first !== undefined) yield [first.start, token.end];
      if (count % SLICE === 0) yield undefined;
    }
  };
}

/** True when TOKEN of a pattern matches only its own spelling, and not that name in all packages. */
function isWhole({ kind, name }: Token): boolean {
  return name.includes(MARK) || (kind === 'atom' && name === '');
}

/** The beginning of a number with a radix prefix, such as #x1F. */
const RADIX = /^#\d*[brox]/i;

/** Returns a key that equal tokens share. The key of a symbol has its package, unless IS_BARE. Strings, characters and
 *  the like have no name, so their text is the key. */
function keyOf(token: Token, text: string, isBare: boolean): string {
  const { kind, name, start, end } = token;
  if (kind !== 'atom') return name === '' ? kind : `${kind} ${isBare ? bareName(token) : name}`;
  const written = text.slice(start, end);
  if (name === '') return `"${RADIX.test(written) ? written.toUpperCase() : written}`;
  return isBare ? `:${bareName(token)}` : `:${name}`;
}

/** A call longer than this many characters is not put on one line. */
const CALL = 1000;

/** Returns the call of several lines whose parenthesis or operator is at START of TEXT: FROM is its start, and the text
 *  has one line and no comments. Returns undefined without such a call, and for one longer than CALL. */
export function brokenCall(text: string, start: number): { from: number; call: string } | undefined {
  const from = text[start] === '(' ? start : start - 1;
  if (text[from] !== '(') return undefined;
  const part = text.slice(from, from + CALL);
  let [depth, last, call] = [0, 0, ''];
  for (const { kind, start: begin, end } of tokensOf(part)) {
    call += `${begin > last ? ' ' : ''}${part.slice(begin, end).replace(/\s+/g, ' ')}`;
    last = end;
    if (kind.endsWith('(')) depth++;
    if (kind === ')') depth--;
    if (depth === 0) return part.slice(0, end).includes('\n') ? { from, call } : undefined;
  }
  return undefined;
}

function bareName({ name }: Token): string {
  return name.startsWith(MARK) ? name : bare(name);
}

/** Returns TEXT with comments and string contents replaced by spaces, so that all offsets stay. */
export function withoutProse(text: string): string {
  let code = '';
  for (const { start, end } of tokensOf(text)) {
    code += blank(text.slice(code.length, start));
    const token = text.slice(start, end);
    code += token.startsWith('"') ? `"${blank(token.slice(1, -1))}"` : token;
  }
  return code + blank(text.slice(code.length));
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** Returns the number of top-level lists in TEXT; those behind #+ or #- count too. */
export function topLevelLists(text: string): number {
  let [depth, lists, skipped] = [0, 0, 0];
  for (const { kind } of tokensOf(text)) {
    if (depth === 0 && (kind === '#+' || kind === '#-')) skipped++;
    else if (depth === 0 && kind === '(' && skipped === 0) lists++;
    if (kind.endsWith('(')) depth++;
    if (kind === ')') depth = Math.max(0, depth - 1);
    // The feature expression behind #+ or #- ends here.
    if (depth === 0 && skipped > 0 && (kind === ')' || kind === 'atom')) skipped--;
  }
  return lists;
}
