/** Decides how Lisp source text divides into characters, lines and the tokens of SBCL's standard readtable. */

/** A place in a file: 1-based LINE and COLUMN (in code points), and that line without white space around it. */
export interface SourcePosition {
  line: number;
  column: number;
  text: string;
}

/**
 * KIND is 'atom', 'end', or the macro character itself, a dispatching one without its number: '(' or '#+'.
 * START and END are UTF-16 indices. NAME is what an atom is interned as, or the number in a dispatch.
 */
export interface Token {
  kind: string;
  start: number;
  end: number;
  name: string;
}

/** Ends the package in NAME, which lacks it for CL and has it empty for KEYWORD: |:quote| is not :quote. */
export const MARK = '\0';

const PACKAGE = new RegExp(`^([^${MARK}]*)${MARK}{1,2}(?=[^])`);
const PREFIXES = new Map([
  ['CL', ''],
  ['COMMON-LISP', ''],
  ['KEYWORD', MARK],
]);
const DELIMITER = /[\t\n\f\r "'(),;`]/;
const WHITESPACE = /[\t\n\f\r ]/;

/**
 * Gives the token of SOURCE at or after index FROM, of kind 'end' when there is none or it is cut off.
 * SUPPRESSED says that the text belongs to a form that #+ or #- removes, where the reader takes some
 * tokens another way.
 */
export function nextToken(source: string, from: number, suppressed: boolean): Token {
  for (let start = skipBlank(source, from); ; ) {
    const sharp = source.charAt(start) === '#';
    const token = sharp ? dispatchToken(source, start, suppressed) : plainToken(source, start);
    if (token.end > source.length) return { ...token, kind: 'end' };
    // The package in `package::(form)` qualifies the form, and has no value of its own.
    if (token.kind === 'atom' && token.name.endsWith(MARK + MARK) && !suppressed) token.kind = 'blank';
    if (token.kind !== 'blank') return token;
    start = skipBlank(source, token.end);
  }
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
  if (/[:*]/.test(char) || (suppressed && /[brox]/.test(char)))
    return { kind: 'atom', start, end: scanSymbol(source, at + 1).end, name: '' };
  // An illegal sub-character is left to be read: it may be what closes the list.
  if (char === '' || /[\s<)]/.test(char)) return { kind: 'atom', start, end: at, name: '' };
  if (suppressed && char === '#') return { ...token, kind: 'atom' };
  return suppressed && !/[(.'+\-acps]/.test(char) ? { ...token, kind: 'blank' } : token;
}

function skipBlank(source: string, from: number): number {
  for (let at = from; ; ) {
    const char = source.charAt(at);
    if (char === ';') at = source.indexOf('\n', at) + 1 || source.length;
    else if (char === '#' && source.charAt(at + 1) === '|') at = endOfBlockComment(source, at + 2);
    else if (WHITESPACE.test(char)) at++;
    else return at;
  }
}

function endOfBlockComment(source: string, from: number): number {
  let level = 1;
  for (let at = from; at < source.length; ) {
    const pair = source.slice(at, at + 2);
    if (pair === '|#' && --level === 0) return at + 2;
    if (pair === '#|') level++;
    at += pair === '|#' || pair === '#|' ? 2 : 1;
  }
  return source.length;
}

function endOfString(source: string, from: number): number {
  let at = from;
  while (at < source.length && source.charAt(at) !== '"') at += source.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}

/** Gives the end of the symbol or number at START, beyond the source when it is cut off, and its name. */
function scanSymbol(source: string, start: number): { end: number; name: string } {
  let name = '';
  let plain = '';
  let at = start;
  for (let quoted = false; at < source.length || quoted; at++) {
    const char = source.charAt(at);
    if (quoted && char === '') return { end: source.length + 1, name };
    if (!quoted && DELIMITER.test(char)) break;
    if (!quoted && !/[\\|:]/.test(char)) {
      plain += char;
      continue;
    }
    name += plain.normalize('NFKC').toUpperCase();
    plain = '';
    if (char === '|') quoted = !quoted;
    else if (char === '\\') name += source.charAt(++at);
    else name += char === ':' && !quoted ? MARK : char;
  }
  name += plain.normalize('NFKC').toUpperCase();
  return { end: at, name: name.replace(PACKAGE, (_, home: string) => PREFIXES.get(home) ?? home + MARK) };
}

/** Gives the UTF-16 index of the character at OFFSET code points, or of the nearest end of SOURCE. */
export function indexOfOffset(source: string, offset: number): number {
  let index = 0;
  for (let left = offset; left >= 1 && index < source.length; left--)
    index += (source.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
  return index;
}

/** Gives the position of the character at the UTF-16 INDEX. */
export function placeOf(source: string, index: number): SourcePosition {
  const lines = source.slice(0, index).split('\n');
  const before = lines.at(-1) ?? '';
  const [rest = ''] = source.slice(index).split('\n', 1);
  return { line: lines.length, column: Array.from(before).length + 1, text: (before + rest).trim() };
}

/** Gives the offset in code points of the character at BYTES of the UTF-8 file: SBCL 2.2.9 records bytes. */
export function offsetOfByte(source: string, bytes: number): number {
  return Array.from(Buffer.from(source).toString('utf8', 0, bytes)).length;
}
