// Decides where code stands in a Lisp text, apart from its comments and strings.

import { bare, MARK, nextToken, type Token } from './lexer.ts';

/** Yields the tokens of TEXT, up to its end or to the first that cannot be read. An array of a million would be too large. */
function* tokensOf(text: string): Generator<Token> {
  for (let at = 0; ; ) {
    const token = nextToken(text, at, false);
    if (token.kind === 'end') return;
    yield token;
    at = token.end;
  }
}

/** Where code that was looked for begins and ends: indices of a text. */
export type Occurrence = [start: number, end: number];

/** Tokens after which a search pauses, so that other requests can run. */
const SLICE = 4096;

/** Returns a function that finds PATTERN, one or more tokens of Lisp, in a text. It finds the same tokens in the same order,
 *  whatever white space is between them. A symbol without a package prefix matches the symbols of that name in all
 *  packages. The generator yields undefined after every SLICE tokens, so that its caller can let other requests run. Returns undefined when PATTERN has no token. */
export function codeFinder(
  pattern: string,
): ((text: string) => Generator<Occurrence | undefined>) | undefined {
  const wanted = [...tokensOf(pattern)];
  if (wanted.length === 0) return undefined;
  const bitsOf = bitsIn(wanted, pattern);
  return function* (text) {
    // Where the last tokens began, as many as the pattern has.
    const starts = new Uint32Array(wanted.length);
    // Each word has a bit for each of so many tokens of the pattern: whether these end at the token that was read last.
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

/** Tokens that one word has a bit for. */
const BITS = 31;
const MASK = 0x7fffffff;

/** Changes WORDS for a further token, which is those of the pattern that BITS tells. Returns whether the LAST is. */
function readOn(words: Int32Array, bits: Int32Array, last: number): boolean {
  let carried = 1;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as number;
    words[at] = ((word << 1) | carried) & MASK & (bits[at] as number);
    carried = (word >> (BITS - 1)) & 1;
  }
  return ((words[words.length - 1] ?? 0) & last) !== 0;
}

/** Returns what gives the bits of the tokens of PATTERN, which are WANTED, that a token of a text is; undefined when it is
 *  none of them. */
function bitsIn(wanted: readonly Token[], pattern: string) {
  const [exact, bareOnes] = [new Map<string, Int32Array>(), new Map<string, Int32Array>()];
  for (const [index, token] of wanted.entries()) {
    const known = isWhole(token) ? exact : bareOnes;
    const key = keyOf(token, pattern, !isWhole(token));
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

/** Whether TOKEN of a pattern means only what is written like it, and not the symbols of that name in all packages. */
function isWhole({ kind, name }: Token): boolean {
  return name.includes(MARK) || (kind === 'atom' && name === '');
}

/** A number in a radix of its own. */
const RADIX = /^#\d*[brox]/i;

/** Returns what is the same for tokens that are the same, also in their package unless it is to be BARE. Strings, characters
 *  and the like have no name. */
function keyOf(token: Token, text: string, isBare: boolean): string {
  const { kind, name, start, end } = token;
  if (kind !== 'atom') return name === '' ? kind : `${kind} ${isBare ? bareName(token) : name}`;
  const written = text.slice(start, end);
  if (name === '') return `"${RADIX.test(written) ? written.toUpperCase() : written}`;
  return isBare ? `:${bareName(token)}` : `:${name}`;
}

/** Characters of a call that are looked through for its end. */
const CALL = 1000;

/** Returns the call that begins, or whose operator begins, at index START of TEXT, on one line and without comments, with
 *  where it begins. Returns undefined when there is none, or when it is on one line already or long. */
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

/** Returns TEXT with spaces in place of its comments and of what its strings hold, so that all else stands where it
 *  stood. */
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

/** Returns how many lists stand in TEXT beside each other, as top-level forms do, with those that #+ or #- leave out. */
export function topLevelLists(text: string): number {
  let [depth, lists, skipped] = [0, 0, 0];
  for (const { kind } of tokensOf(text)) {
    if (depth === 0 && (kind === '#+' || kind === '#-')) skipped++;
    else if (depth === 0 && kind === '(' && skipped === 0) lists++;
    if (kind.endsWith('(')) depth++;
    if (kind === ')') depth = Math.max(0, depth - 1);
    // A feature expression ends here.
    if (depth === 0 && skipped > 0 && (kind === ')' || kind === 'atom')) skipped--;
  }
  return lists;
}
