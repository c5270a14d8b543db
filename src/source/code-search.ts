// Decides where code stands in a Lisp text, apart from its comments and strings.

import { bare, MARK, nextToken, type Token } from './lexer.ts';

/** Returns the tokens of TEXT, as far as it can be read. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; ; ) {
    const token = nextToken(text, at, false);
    if (token.kind === 'end') return tokens;
    tokens.push(token);
    at = token.end;
  }
}

/** Where code that was looked for begins and ends: indices of a text. */
export type Occurrence = [start: number, end: number];

/** Returns what finds PATTERN, one or more tokens of Lisp, in a text: the same tokens in a row, however they are laid out.
 *  A symbol without package means those of all packages. Returns undefined when PATTERN has no token. */
export function codeFinder(pattern: string): ((text: string) => Occurrence[]) | undefined {
  const wanted = tokensOf(pattern);
  if (wanted.length === 0) return undefined;
  const tests = wanted.map((token) => testFor(token, pattern));
  return (text) => {
    const tokens = tokensOf(text);
    return tokens.flatMap((token, index): Occurrence[] => {
      const found = tests.every((test, offset) => {
        const other = tokens[index + offset];
        return other !== undefined && test(other, text);
      });
      return found ? [[token.start, tokens[index + tests.length - 1]?.end ?? token.end]] : [];
    });
  };
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

/** Returns what tells whether a token of a text is the same as TOKEN of PATTERN. */
function testFor(token: Token, pattern: string): (other: Token, text: string) => boolean {
  const { kind, name } = token;
  const written = pattern.slice(token.start, token.end);
  // Strings, characters and the like have no name.
  if (kind === 'atom' && name === '')
    return (other, text) => other.kind === kind && text.slice(other.start, other.end) === written;
  const qualified = name.includes(MARK);
  return (other) => other.kind === kind && (qualified ? other.name : bareName(other)) === name;
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
