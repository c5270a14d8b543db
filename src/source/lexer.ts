/** Splits Lisp source text into the tokens of SBCL's standard readtable. */

/** A token. `kind` is 'atom', 'end', or the macro character or characters, such as '(' or '#+'. Digits in between are
 * left out: #2A is '#A'. `kind` is '::' for the prefix in `package::(form)`. `start` and `end` are UTF-16 indices. */
export interface Token {
  kind: string;
  start: number;
  end: number;
}

/** In the name of a token (see tokenName), stands between the package and the name of the symbol. Symbols written with
 * the package COMMON-LISP have neither package nor marker, like those written without a package. The name of a keyword
 * begins with one marker, that of an uninterned symbol with two. The marker is not ':', because then the symbol
 * |:quote| would equal :quote. */
export const PACKAGE_MARKER = '\0';

/** Returns NAME, the name of a token, without its package. */
export function withoutPackage(name: string): string {
  return name.slice(name.lastIndexOf(PACKAGE_MARKER) + 1);
}

/** Returns true when NAME, the name of a token, begins with a marker, as that of a keyword or an uninterned symbol. */
export function isKeywordName(name: string): boolean {
  return name.startsWith(PACKAGE_MARKER);
}

/** Matches the package and its one or two markers, but not a marker at the end, as that of the prefix `package::`. */
const PACKAGE = new RegExp(`^([^${PACKAGE_MARKER}]*)${PACKAGE_MARKER}{1,2}(?=[^${PACKAGE_MARKER}])`);
/** What stands in the name of a token instead of such a package and its marker. */
const PREFIXES = new Map([
  ['CL', ''],
  ['COMMON-LISP', ''],
  ['KEYWORD', PACKAGE_MARKER],
]);
const DELIMITERS = '\t\n\f\r "\'(),;`';
const [BACKSLASH, BAR] = ['\\', '|'].map((char) => char.charCodeAt(0));
/** Indexed by ASCII code: true when the character ends a symbol. */
const ENDS_SYMBOL = Array.from({ length: 128 }, (_, code) => DELIMITERS.includes(String.fromCharCode(code)));
// A byte order mark is white space.
const BLANKS = /(?:^\ufeff)?[\t\n\f\r ]*/y;
const STRING_CHARACTERS = /[^"\\]*/y;
const SYMBOL_CHARACTERS = /[^\\|:]*/y;
const NOT_ASCII = /[^\0-\x7f]/;
const RUN_OR_CHARACTER = /[\0-\x7f]+|./gsu;
const COMMENT_BOUND = /#\||\|#/g;

/** Returns the token of SOURCE at or after FROM. Its kind is 'end' if there is none, or if the end of SOURCE cuts it
 * off. */
export function nextToken(source: string, from: number): Token {
  const start = skipBlank(source, from);
  const token = source.charAt(start) === '#' ? dispatchToken(source, start) : plainToken(source, start);
  return token.end > source.length ? { ...token, kind: 'end' } : token;
}

/** Yields the tokens of TEXT up to the first unreadable one. */
export function* tokensOf(text: string): Generator<Token, void> {
  for (let token = nextToken(text, 0); token.kind !== 'end'; token = nextToken(text, token.end)) yield token;
}

function plainToken(source: string, start: number): Token {
  const kind = source.charAt(start);
  if (kind === '') return { kind: 'end', start, end: start };
  if (kind === '"') return { kind: 'atom', start, end: endOfString(source, start + 1) };
  if (kind === ',') return { kind, start, end: start + (/[@.]/.test(source.charAt(start + 1)) ? 2 : 1) };
  if (DELIMITERS.includes(kind)) return { kind, start, end: start + 1 };
  const end = endOfSymbol(source, start);
  if (kind === '.' && end === start + 1) return { kind, start, end };
  // An escaped colon does not become a marker.
  const isPrefix =
    source.endsWith('::', end) &&
    symbolName(source.slice(start, end)).endsWith(PACKAGE_MARKER + PACKAGE_MARKER);
  return { kind: isPrefix ? '::' : 'atom', start, end };
}

function dispatchToken(source: string, start: number): Token {
  let at = start + 1;
  while (/\d/.test(source.charAt(at))) at++;
  const char = source.charAt(at).toLowerCase();
  const kind = `#${char}`;
  // `skipBlank` has skipped the block comments that end. So this one does not end, or it has digits after the #.
  if (char === '|') return { kind, start, end: source.length + 1 };
  if (char === '\\') return { kind: 'atom', start, end: endOfSymbol(source, at) };
  if (char === ':' || char === '*') return { kind: 'atom', start, end: endOfSymbol(source, at + 1) };
  if (/[brox]/.test(char)) {
    // After such a prefix, SBCL also accepts white space, or a form whose value is the number. Then the prefix is a
    // token of its own.
    const end = endOfSymbol(source, at + 1);
    const apart = end === at + 1 || source.charAt(at + 1) === '#';
    return apart ? { kind, start, end: at + 1 } : { kind: 'atom', start, end };
  }
  // An illegal sub-character may be the parenthesis that closes the list, so the next token begins with it.
  if (char === '' || /[\s<)]/.test(char)) return { kind: 'atom', start, end: at };
  // A library that defines #" reads a string that begins at the ", so the next token begins with the ".
  return { kind, start, end: char === '"' ? at : at + 1 };
}

function skipBlank(source: string, from: number): number {
  for (let at = endOfBlank(source, from); ; ) {
    const end = endOfComment(source, at);
    if (end === undefined || end > source.length) return at;
    at = endOfBlank(source, end);
  }
}

/** Returns the index after the white space at FROM of SOURCE. The #! line of a script counts as white space. */
function endOfBlank(source: string, from: number): number {
  const shebang = from === 0 && source.startsWith('#!');
  return endOfRun(BLANKS, source, shebang ? endOfLine(source, 0) : from);
}

/** Returns the end of the comment at index AT of SOURCE, before its line break; undefined when no comment begins
 * there. */
function endOfComment(source: string, at: number): number | undefined {
  const char = source.charAt(at);
  if (char === ';') return endOfLine(source, at);
  return char === '#' && source.charAt(at + 1) === '|' ? endOfBlockComment(source, at + 2) : undefined;
}

function endOfLine(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end === -1 ? source.length : end;
}

/** Returns the comments of SOURCE that follow index FROM, up to the next token. */
export function commentsFrom(source: string, from: number): { start: number; end: number }[] {
  const comments: { start: number; end: number }[] = [];
  for (let start = endOfBlank(source, from); ; ) {
    const end = endOfComment(source, start);
    if (end === undefined || end > source.length) return comments;
    comments.push({ start, end });
    start = endOfBlank(source, end);
  }
}

/** Returns the end of the run that the sticky RUN matches at FROM; FROM itself if it is beyond SOURCE. */
function endOfRun(run: RegExp, source: string, from: number): number {
  run.lastIndex = from;
  run.test(source);
  return Math.max(run.lastIndex, from);
}

/** Returns the index after the block comment whose text begins at FROM; an index beyond SOURCE when the text cuts it
 * off. */
function endOfBlockComment(source: string, from: number): number {
  let level = 1;
  COMMENT_BOUND.lastIndex = from;
  for (let bound = COMMENT_BOUND.exec(source); bound !== null; bound = COMMENT_BOUND.exec(source)) {
    level += bound[0] === '#|' ? 1 : -1;
    if (level === 0) return COMMENT_BOUND.lastIndex;
  }
  return source.length + 1;
}

/** Returns the index after the string whose characters begin at FROM; an index beyond SOURCE when the text cuts it
 * off. */
function endOfString(source: string, from: number): number {
  let at = endOfRun(STRING_CHARACTERS, source, from);
  while (source.charAt(at) === '\\') at = endOfRun(STRING_CHARACTERS, source, at + 2);
  return at + 1;
}

/** Returns the end of the symbol or number at START; an index beyond SOURCE when the text cuts it off. */
function endOfSymbol(source: string, start: number): number {
  for (let [at, quoted] = [start, false]; ; at++) {
    const code = source.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === BAR) quoted = !quoted;
    else if (at >= source.length) return quoted ? source.length + 1 : at;
    else if (!quoted && ENDS_SYMBOL[code]) return at;
  }
}

/** Returns the name of the token WRITTEN, of KIND. For a symbol it is the name that the reader interns. If the
 * package is written, it and PACKAGE_MARKER come first. A number is taken for a symbol. For a dispatch macro it is the
 * digits after the #. Other tokens have the name ''. */
export function tokenName(kind: string, written: string): string {
  if (kind.startsWith('#')) return /^#(\d*)/.exec(written)?.[1] ?? '';
  if (kind !== 'atom' || written.startsWith('"')) return '';
  if (!written.startsWith('#')) return symbolName(written);
  const [prefix = ''] = /^#\d*:/.exec(written) ?? [];
  const name = prefix && symbolName(written.slice(prefix.length));
  return name && PACKAGE_MARKER + PACKAGE_MARKER + name;
}

/** Returns the name of the token WRITTEN, a symbol or number (see PACKAGE_MARKER). */
function symbolName(written: string): string {
  if (!/[\\|:]/.test(written)) return upperCase(written);
  let name = '';
  for (let [at, quoted] = [0, false]; at < written.length; at++) {
    if (!quoted) {
      const end = endOfRun(SYMBOL_CHARACTERS, written, at);
      name += upperCase(written.slice(at, end));
      at = end;
    }
    const char = written.charAt(at);
    if (char === '|') quoted = !quoted;
    else if (char === '\\') name += written.charAt(++at);
    else name += quoted || char !== ':' ? char : PACKAGE_MARKER;
  }
  if (!name.includes(PACKAGE_MARKER)) return name;
  return name.replace(PACKAGE, (_, home: string) => PREFIXES.get(home) ?? home + PACKAGE_MARKER);
}

/** Returns NAME as SBCL's reader interns it: normalized (NFKC) and in upper case. Skips the slow normalization for
 * ASCII names, which it would not change. */
export function upperCase(name: string): string {
  if (!NOT_ASCII.test(name)) return name.toUpperCase();
  const normal = name.normalize('NFKC');
  const whole = normal.toUpperCase();
  // It is faster to compare whole names than to compare each character. Only a sigma gives another result, because its
  // lower case depends on the letters beside it.
  const same = whole.length === normal.length && whole.toLowerCase() === normal.toLowerCase();
  if (same && !whole.includes('\u03a3')) return whole;
  return normal.replace(RUN_OR_CHARACTER, (part) => {
    const upper = part.toUpperCase();
    // SBCL keeps a character whose upper case has several characters, or another lower case.
    return upper.length === part.length && upper.toLowerCase() === part.toLowerCase() ? upper : part;
  });
}

/** Returns NAME in lower case; NAME itself if the reader would intern the name in lower case as another symbol. */
export function lowerCase(name: string): string {
  const lower = name.toLowerCase();
  return upperCase(lower) === name ? lower : name;
}
