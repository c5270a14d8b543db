/** The lexer: splits Lisp source text into the tokens of SBCL's standard readtable. */

/** A token. KIND is 'atom', 'end', or the macro character, such as '(' or '#+', without the number of a dispatch macro.
 *  START and END are UTF-16 indices. NAME of a symbol or number is its name as the reader interns it, with the package
 *  as in MARK; '' for other atoms, such as strings and #x1F. NAME of a dispatch macro is its number. */
export interface Token {
  kind: string;
  start: number;
  end: number;
  name: string;
}

/** Separates package and name in a token's NAME. The package COMMON-LISP is left out. A keyword begins with one MARK,
 *  an uninterned symbol with two. The character is not ':', so that the symbol |:quote| differs from :quote. */
export const MARK = '\0';

/** Returns NAME, the name of a token, without its package. */
export function bare(name: string): string {
  return name.slice(name.lastIndexOf(MARK) + 1);
}

const PACKAGE = new RegExp(`^([^${MARK}]*)${MARK}{1,2}(?=[^])`);
const PREFIXES = new Map([
  ['CL', ''],
  ['COMMON-LISP', ''],
  ['KEYWORD', MARK],
]);
const DELIMITER = /[\t\n\f\r "'(),;`]/;
// Each of these sticky patterns matches the longest run of one class of characters. A byte order mark is white space.
const BLANKS = /(?:^\ufeff)?[\t\n\f\r ]*/y;
const CONSTITUENTS = /[^\t\n\f\r "'(),;`\\|:]*/y;
const STRING_CHARACTERS = /[^"\\]*/y;
const NOT_ASCII = /[^\0-\x7f]/;
const RUN_OR_CHARACTER = /[\0-\x7f]+|./gsu;
const COMMENT_BOUND = /#\||\|#/g;

/** Returns the token of SOURCE at or after index FROM, of kind 'end' when there is none or it is cut off. SUPPRESSED
 *  means that #+ or #- excludes the text: the reader then reads some tokens differently. */
export function nextToken(source: string, from: number, suppressed: boolean): Token {
  for (let start = skipBlank(source, from); ; ) {
    const sharp = source.charAt(start) === '#';
    const token = sharp ? dispatchToken(source, start, suppressed) : plainToken(source, start);
    if (token.end > source.length) return { ...token, kind: 'end' };
    // The prefix in `package::(form)` is no token: it only sets the package for the form.
    if (token.kind === 'atom' && token.name.endsWith(MARK + MARK) && !suppressed) token.kind = 'blank';
    if (token.kind !== 'blank') return token;
    start = skipBlank(source, token.end);
  }
}

/** Yields the tokens of TEXT from index FROM on, up to the first unreadable one. An array of a million tokens would be
 *  too large. */
export function* tokensOf(text: string, from = 0): Generator<Token, void> {
  for (
    let token = nextToken(text, from, false);
    token.kind !== 'end';
    token = nextToken(text, token.end, false)
  )
    yield token;
}

function plainToken(source: string, start: number): Token {
  const kind = source.charAt(start);
  const token = { kind, start, end: start + 1, name: '' };
  if (kind === '') return { ...token, kind: 'end', end: start };
  if (kind === '"') return { ...token, kind: 'atom', end: endOfString(source, start + 1) };
  if (kind === ',' && /[@.]/.test(source.charAt(start + 1))) return { ...token, end: start + 2 };
  if (DELIMITER.test(kind)) return token;
  const symbol = scanSymbol(source, start);
  return kind === '.' && symbol.end === token.end ? token : { kind: 'atom', start, ...symbol };
}

function dispatchToken(source: string, start: number, suppressed: boolean): Token {
  let at = start + 1;
  while (/\d/.test(source.charAt(at))) at++;
  const char = source.charAt(at).toLowerCase();
  const token = { kind: `#${char}`, start, end: at + 1, name: source.slice(start + 1, at) };
  if (char === '\\') return { kind: 'atom', start, end: scanSymbol(source, at).end, name: '' };
  if (char === ':') {
    const symbol = scanSymbol(source, at + 1);
    return { kind: 'atom', start, end: symbol.end, name: symbol.name && MARK + MARK + symbol.name };
  }
  if (char === '*' || /[brox]/.test(char)) {
    // Behind such a prefix SBCL 2.2.9 also reads a number after white space, and the value of a form.
    const number = char === '*' || suppressed ? at + 1 : skipBlank(source, at + 1);
    const { end } = scanSymbol(source, number);
    const isForm = end === number || source.charAt(number) === '#';
    if (char === '*' || suppressed || !isForm) return { kind: 'atom', start, end, name: '' };
  }
  // An illegal sub-character is left for the next token: it may be the parenthesis that closes the list.
  if (char === '' || /[\s<)]/.test(char)) return { kind: 'atom', start, end: at, name: '' };
  // Standard readers reject #". Libraries that define it as a dispatch macro read a string after it.
  if (char === '"') return { ...token, end: at };
  if (suppressed && char === '#') return { ...token, kind: 'atom' };
  return suppressed && !/[(.'+\-acps]/.test(char) ? { ...token, kind: 'blank' } : token;
}

function skipBlank(source: string, from: number): number {
  for (let at = endOfRun(BLANKS, source, from); ; at = endOfRun(BLANKS, source, at)) {
    const char = source.charAt(at);
    // A script can begin with a #! line.
    const shebang = at === 0 && source.startsWith('#!');
    if (char === ';' || shebang) at = source.indexOf('\n', at) + 1 || source.length;
    else if (char === '#' && source.charAt(at + 1) === '|') at = endOfBlockComment(source, at + 2);
    else return at;
  }
}

/** Returns the end of the run that RUN, a sticky pattern, matches from index FROM on. */
function endOfRun(run: RegExp, source: string, from: number): number {
  run.lastIndex = from;
  run.test(source);
  return Math.max(run.lastIndex, from);
}

function endOfBlockComment(source: string, from: number): number {
  let level = 1;
  COMMENT_BOUND.lastIndex = from;
  for (let bound = COMMENT_BOUND.exec(source); bound !== null; bound = COMMENT_BOUND.exec(source)) {
    level += bound[0] === '#|' ? 1 : -1;
    if (level === 0) return COMMENT_BOUND.lastIndex;
  }
  return source.length;
}

function endOfString(source: string, from: number): number {
  let at = endOfRun(STRING_CHARACTERS, source, from);
  while (source.charAt(at) === '\\') at = endOfRun(STRING_CHARACTERS, source, at + 2);
  return at + 1;
}

/** Returns the name and the end of the symbol or number at START. The end is beyond SOURCE when it is cut off. */
function scanSymbol(source: string, start: number): { end: number; name: string } {
  let name = '';
  let at = start;
  for (let quoted = false; ; at++) {
    if (!quoted) {
      const end = endOfRun(CONSTITUENTS, source, at);
      name += upperCase(source.slice(at, end));
      at = end;
    }
    const char = source.charAt(at);
    if (quoted && char === '') return { end: source.length + 1, name };
    if (char === '|') quoted = !quoted;
    else if (char === '\\') name += source.charAt(++at);
    else if (quoted) name += char;
    else if (char === ':') name += MARK;
    else break;
  }
  if (!name.includes(MARK)) return { end: at, name };
  return { end: at, name: name.replace(PACKAGE, (_, home: string) => PREFIXES.get(home) ?? home + MARK) };
}

/** Returns NAME as SBCL's reader interns it when no character is escaped: normalized (NFKC) and in upper case. Only a
 *  name with characters outside ASCII is normalized, since that is slow and does nothing to ASCII. */
export function upperCase(name: string): string {
  if (!NOT_ASCII.test(name)) return name.toUpperCase();
  const normal = name.normalize('NFKC');
  const whole = normal.toUpperCase();
  // Comparing the whole name is faster than comparing its characters. Only for a sigma do the results differ: its lower
  // case depends on the characters around it.
  const same = whole.length === normal.length && whole.toLowerCase() === normal.toLowerCase();
  if (same && !whole.includes('\u03a3')) return whole;
  return normal.replace(RUN_OR_CHARACTER, (part) => {
    const upper = part.toUpperCase();
    // SBCL keeps a character whose upper case is more than one character, or has another character as its lower case.
    return upper.length === part.length && upper.toLowerCase() === part.toLowerCase() ? upper : part;
  });
}

/** Returns NAME, the name of a symbol, in lower case; unchanged when the reader would read that as another name. */
export function lowerCase(name: string): string {
  const lower = name.toLowerCase();
  return upperCase(lower) === name ? lower : name;
}
