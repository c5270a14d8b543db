// Searches a Lisp text by tokens, so that names in comments and strings do not match.

import { FormReader } from './form.ts';
import { PACKAGE_MARKER, type Token, tokenName, tokensOf, withoutPackage } from './lexer.ts';
import { treeOf } from './tree.ts';

/** The start and end of a match, as UTF-16 indices. */
type Occurrence = [start: number, end: number];

/** Number of tokens after which a search pauses, so that other requests can run. */
const SLICE = 4096;

/** Returns a function that finds PATTERN, Lisp tokens, in a text; undefined when PATTERN has no token. An unqualified
 * symbol matches that name in every package. The function returns a generator of the matches. After every SLICE tokens,
 * the generator yields undefined, so that its caller can let other requests run. */
export function codeFinder(
  pattern: string,
): ((text: string) => Generator<Occurrence | undefined>) | undefined {
  const wanted = [...tokensOf(pattern)].map((token) => {
    const kind = isWhole(token, pattern) ? 'whole' : 'symbolName';
    return { kind, key: keyOf(token, pattern, kind === 'symbolName') } as const;
  });
  const [anyWhole, anySymbolName] = [
    wanted.some(({ kind }) => kind === 'whole'),
    wanted.some(({ kind }) => kind === 'symbolName'),
  ];
  if (wanted.length === 0) return undefined;
  return function* (text) {
    /** The partial matches: the start of each, and the number of pattern tokens matched so far. */
    let begun: { start: number; count: number }[] = [];
    let index = 0;
    for (const token of tokensOf(text)) {
      const keys = {
        whole: anyWhole ? keyOf(token, text, false) : '',
        symbolName: anySymbolName ? keyOf(token, text, true) : '',
      };
      begun.push({ start: token.start, count: 0 });
      begun = begun.filter((match) => {
        const next = wanted[match.count];
        match.count += 1;
        return next !== undefined && keys[next.kind] === next.key;
      });
      const [first] = begun;
      if (first?.count === wanted.length) yield [first.start, token.end];
      index += 1;
      if (index % SLICE === 0) yield undefined;
    }
  };
}

/** Returns true when TOKEN of PATTERN is a qualified symbol or a literal, which must match exactly. */
function isWhole({ kind, start, end }: Token, pattern: string): boolean {
  const name = tokenName(kind, pattern.slice(start, end));
  return name.includes(PACKAGE_MARKER) || (kind === 'atom' && name === '');
}

/** The beginning of a number with a radix prefix, such as #x1F. */
const RADIX = /^#\d*[brox]/i;

/** Returns a key of TOKEN. Equal tokens have equal keys. If IS_SYMBOL_NAME is true, the key of a symbol leaves out its
 * package. */
function keyOf(token: Token, text: string, isSymbolName: boolean): string {
  const { kind, start, end } = token;
  const written = text.slice(start, end);
  const name = tokenName(kind, written);
  if (kind !== 'atom') return name === '' ? kind : `${kind} ${name}`;
  if (name === '') return `"${RADIX.test(written) ? written.toUpperCase() : written}`;
  return `:${isSymbolName && !name.startsWith(PACKAGE_MARKER) ? withoutPackage(name) : name}`;
}

/** The maximum number of characters of a call that `brokenCall` returns. */
const LONGEST = 1000;

/** Returns the call at START of TEXT if it spans several lines: its start, and its text on one line without comments.
 * START is the index of its parenthesis or operator. Returns undefined for a call on one line, and for one longer than
 * LONGEST. */
export function brokenCall(text: string, start: number): { from: number; call: string } | undefined {
  const from = text[start] === '(' ? start : start - 1;
  if (text[from] !== '(') return undefined;
  const part = text.slice(from, from + LONGEST);
  const tree = treeOf(part);
  const tokenAfter = tree.tokenAfterList(0);
  const spans = tokenAfter !== undefined && part.slice(0, tree.end(tokenAfter - 1)).includes('\n');
  return spans ? { from, call: tree.oneLine(0, tokenAfter) } : undefined;
}

/** Returns TEXT with comments and string contents replaced by spaces, so that offsets stay valid. */
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

/** Returns the number of top-level lists in TEXT, including lists that #+ or #- may exclude. */
export function topLevelLists(text: string): number {
  return [...new FormReader(treeOf(text)).forms()].filter(({ notation }) => notation === '(').length;
}
