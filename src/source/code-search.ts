// Searches a Lisp text by tokens, so that names in comments and strings do not match.

import { FormReader } from './form.ts';
import { bareTokenName, nameOf, PACKAGE_MARKER, type Token, tokensOf } from './lexer.ts';
import { treeOf } from './tree.ts';

/** A match: UTF-16 indices where it begins and ends. */
export type Occurrence = [start: number, end: number];

/** Number of tokens after which a search pauses, so that other requests can run. */
const SLICE = 4096;

/** Returns a function that finds PATTERN, Lisp tokens, in a text. White space does not matter, and an
 *  unqualified symbol matches that name in all packages. The generator yields undefined after every SLICE
 *  tokens, so that other requests can run. Returns undefined when PATTERN has no token. */
export function codeFinder(
  pattern: string,
): ((text: string) => Generator<Occurrence | undefined>) | undefined {
  const wanted = [...tokensOf(pattern)];
  if (wanted.length === 0) return undefined;
  const bitsOf = bitsIn(wanted, pattern);
  return function* (text) {
    // Ring buffer with the starts of the tokens read last, as many as the pattern has tokens.
    const starts = new Uint32Array(wanted.length);
    // Shift-And state, BITS bits a word: bit N is set when pattern tokens 0 to N end at the last token read.
    const words = new Int32Array(Math.ceil(wanted.length / BITS));
    const last = 1 << ((wanted.length - 1) % BITS);
    let index = 0;
    for (const token of tokensOf(text)) {
      starts[index % wanted.length] = token.start;
      index += 1;
      const bits = bitsOf(token, text);
      if (bits === undefined) words.fill(0);
      else if (readOn(words, bits, last)) yield [starts[index % wanted.length] ?? token.start, token.end];
      if (index % SLICE === 0) yield undefined;
    }
  };
}

/** Number of bits used in each word of a Shift-And state. */
const BITS = 31;
const MASK = 0x7fffffff;

/** Advances the Shift-And state WORDS by one token. BITS has the pattern tokens that equal this token.
 *  Returns whether bit LAST is set, so that the whole pattern matches. */
function readOn(words: Int32Array, bits: Int32Array, last: number): boolean {
  let carried = 1;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as number;
    words[at] = ((word << 1) | carried) & MASK & (bits[at] as number);
    carried = (word >> (BITS - 1)) & 1;
  }
  return ((words[words.length - 1] ?? 0) & last) !== 0;
}

/** Returns a function that compares a token with WANTED, the tokens of PATTERN. It returns words of BITS
 *  bits, with bit N set when the token equals token N of PATTERN; undefined when it equals none. */
function bitsIn(wanted: readonly Token[], pattern: string) {
  const [exact, bareOnes] = [new Map<string, Int32Array>(), new Map<string, Int32Array>()];
  for (const [index, token] of wanted.entries()) {
    const whole = isWhole(token, pattern);
    const known = whole ? exact : bareOnes;
    const key = keyOf(token, pattern, !whole);
    const words = known.get(key) ?? new Int32Array(Math.ceil(wanted.length / BITS));
    known.set(key, words);
    const at = Math.floor(index / BITS);
    words[at] = (words[at] ?? 0) | (1 << (index % BITS));
  }
  return (token: Token, text: string) => {
    const loose = bareOnes.get(keyOf(token, text, true));
    const whole = exact.size > 0 ? exact.get(keyOf(token, text, false)) : undefined;
    return whole && loose ? whole.map((word, at) => word | (loose[at] ?? 0)) : (whole ?? loose);
  };
}

/** True when TOKEN of PATTERN is a qualified symbol or a literal, and so must match exactly. */
function isWhole({ kind, start, end }: Token, pattern: string): boolean {
  const name = nameOf(kind, pattern.slice(start, end));
  return name.includes(PACKAGE_MARKER) || (kind === 'atom' && name === '');
}

/** The beginning of a number with a radix prefix, such as #x1F. */
const RADIX = /^#\d*[brox]/i;

/** Returns a key that equal tokens share: a symbol's name with its package, unless IS_BARE, or the text of a
 *  string, character or the like. */
function keyOf(token: Token, text: string, isBare: boolean): string {
  const { kind, start, end } = token;
  const written = text.slice(start, end);
  const name = nameOf(kind, written);
  if (kind !== 'atom') return name === '' ? kind : `${kind} ${name}`;
  if (name === '') return `"${RADIX.test(written) ? written.toUpperCase() : written}`;
  return `:${isBare && !name.startsWith(PACKAGE_MARKER) ? bareTokenName(name) : name}`;
}

/** `brokenCall` does not return calls longer than this many characters. */
const LONGEST = 1000;

/** Returns the call whose parenthesis or operator is at START of TEXT, if the call spans several lines.
 *  FROM is its start, CALL its text on one line without comments. Returns undefined for a call on a single
 *  line, and for one longer than LONGEST characters. */
export function brokenCall(text: string, start: number): { from: number; call: string } | undefined {
  const from = text[start] === '(' ? start : start - 1;
  if (text[from] !== '(') return undefined;
  const part = text.slice(from, from + LONGEST);
  const tree = treeOf(part);
  const behind = tree.behind(0);
  const spans = behind !== undefined && part.slice(0, tree.end(behind - 1)).includes('\n');
  return spans ? { from, call: tree.line(0, behind) } : undefined;
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

/** Returns the number of top-level lists in TEXT, including those that #+ or #- may exclude. */
export function topLevelLists(text: string): number {
  return [...new FormReader(treeOf(text)).forms()].filter(({ mark }) => mark === '(').length;
}
