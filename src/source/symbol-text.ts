/** Decides how a symbol is written in a text: its package, its name, and another name in the same style. */

import { lowerCase, MARK, nextToken, upperCase } from './lexer.ts';

/** A symbol as it is written. PREFIX is the name of its package as the reader takes it, '' of a keyword and '#' of an
 *  uninterned one. BASE is where the name begins in the text of the symbol. */
export interface Written {
  prefix?: string;
  base: number;
}

/** Returns how TOKEN, the text of a symbol, is written. */
export function writtenSymbol(token: string): Written {
  if (token.startsWith('#:')) return { prefix: '#', base: 2 };
  const [, home = '', colons = ''] = /^((?:[^\\|:]|\\.|\|[^|]*\|)*)(::?)/s.exec(token) ?? [];
  if (colons === '') return { base: 0 };
  return { prefix: nameOf(home), base: home.length + colons.length };
}

/** Returns the name that TEXT, of a symbol without package, stands for. */
function nameOf(text: string): string {
  return text === '' ? '' : nextToken(text, 0, false).name;
}

/** What the reader takes for something else than a symbol of that name when nothing is quoted. */
const NOT_PLAIN = /[\s"'(),;`\\|:#]|^[+-]?\d+[./\d]*(?:[esfdl][+-]?\d+)?$|^\.+$/i;

/** Returns NAME, of a symbol, between bars. */
export function inBars(name: string): string {
  return `|${name.replace(/[\\|]/g, '\\$&')}|`;
}

/** Returns NAME, of a symbol, as it is written in the place of BASE, the text of another without its package. It is in bars,
 *  or in upper or lower case, as that. */
export function spelled(name: string, base: string): string {
  const plain = name !== '' && name === upperCase(name) && !NOT_PLAIN.test(name);
  if (!plain || /^\|.*\|$/s.test(base)) return inBars(name);
  return /[A-Z]/.test(base) && !/[a-z]/.test(base) ? name : lowerCase(name);
}

/** Returns the name that TEXT, one symbol, has, and its package when one is written. Returns undefined for anything else. */
export function symbolIn(text: string): { name: string; prefix?: string } | undefined {
  const { kind, name, start, end } = nextToken(text, 0, false);
  const token = text.slice(start, end);
  if (kind !== 'atom' || name === '' || text.slice(end).trim() !== '' || token.startsWith('#'))
    return undefined;
  const { prefix, base } = writtenSymbol(token);
  const written = token.slice(base);
  // A number, or dots alone.
  if (!/[\\|]/.test(written) && NOT_PLAIN.test(written)) return undefined;
  return { name: name.slice(name.lastIndexOf(MARK) + 1), ...(prefix !== undefined && { prefix }) };
}
