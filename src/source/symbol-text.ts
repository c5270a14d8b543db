/** Parses how a text writes a symbol, package and name, and writes another name in the same style. */

import { lowerCase, MARK, nextToken, upperCase } from './lexer.ts';

/** A symbol as written. PREFIX is its package as the reader interns it: '' for a keyword, '#' for an uninterned symbol.
 *  BASE is the index of the name in the token. */
export interface Written {
  prefix?: string;
  base: number;
}

/** Parses TOKEN, the text of a symbol. */
export function writtenSymbol(token: string): Written {
  if (token.startsWith('#:')) return { prefix: '#', base: 2 };
  const [, home = '', colons = ''] = /^((?:[^\\|:]|\\.|\|[^|]*\|)*)(::?)/s.exec(token) ?? [];
  if (colons === '') return { base: 0 };
  return { prefix: nameOf(home), base: home.length + colons.length };
}

/** Returns the name that TEXT, a symbol without package, is read as. */
function nameOf(text: string): string {
  return text === '' ? '' : nextToken(text, 0, false).name;
}

/** Matches a name that the reader takes for a symbol only when it is escaped. */
const NOT_PLAIN = /[\s"'(),;`\\|:#]|^[+-]?\d+[./\d]*(?:[esfdl][+-]?\d+)?$|^\.+$/i;

/** Returns NAME written as a symbol in vertical bars, with | and \ escaped. */
export function inBars(name: string): string {
  return `|${name.replace(/[\\|]/g, '\\$&')}|`;
}

/** Returns the symbol NAME in the style of BASE, the text that it replaces, without package: in bars, upper or lower
 *  case. */
export function spelled(name: string, base: string): string {
  const plain = name !== '' && name === upperCase(name) && !NOT_PLAIN.test(name);
  if (!plain || /^\|.*\|$/s.test(base)) return inBars(name);
  return /[A-Z]/.test(base) && !/[a-z]/.test(base) ? name : lowerCase(name);
}

/** Returns name and package of TEXT when it is one symbol, else undefined. PREFIX is set when TEXT has one. */
export function symbolIn(text: string): { name: string; prefix?: string } | undefined {
  const { kind, name, start, end } = nextToken(text, 0, false);
  const token = text.slice(start, end);
  if (kind !== 'atom' || name === '' || text.slice(end).trim() !== '' || token.startsWith('#'))
    return undefined;
  const { prefix, base } = writtenSymbol(token);
  const written = token.slice(base);
  // TEXT is a number, or dots alone.
  if (!/[\\|]/.test(written) && NOT_PLAIN.test(written)) return undefined;
  return { name: name.slice(name.lastIndexOf(MARK) + 1), ...(prefix !== undefined && { prefix }) };
}
