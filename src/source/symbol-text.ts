/** Parses the text of a symbol into package and name, and writes another name in the same spelling. */

import { lowerCase, nextToken, tokenName, upperCase, withoutPackage } from './lexer.ts';

/** A parsed symbol. `prefix` is its package prefix: '' for a keyword, '#' for an uninterned symbol, undefined for none.
 * `base` is the index of the name after the prefix. */
export interface Written {
  prefix?: string;
  base: number;
}

export function writtenSymbol(token: string): Written {
  if (token.startsWith('#:')) return { prefix: '#', base: 2 };
  const [, home = '', colons = ''] = /^((?:[^\\|:]|\\.|\|[^|]*\|)*)(::?)/s.exec(token) ?? [];
  if (colons === '') return { base: 0 };
  return { prefix: packageNamed(home), base: home.length + colons.length };
}

/** Returns the package name that TEXT, the part of a symbol before the colon, designates. */
export function packageNamed(text: string): string {
  return text === '' ? '' : tokenName('atom', text);
}

/** Matches a name that needs escapes, because the reader would otherwise not read it as one symbol. */
const NOT_PLAIN = /[\s"'(),;`\\|:#]|^[+-]?\d+[./\d]*(?:[esfdl][+-]?\d+)?$|^\.+$/i;

/** Returns NAME written as a symbol in vertical bars, with | and \ escaped. */
export function inBars(name: string): string {
  return `|${name.replace(/[\\|]/g, '\\$&')}|`;
}

/** Returns the symbol NAME spelled like BASE, the text that it replaces: in bars, upper or lower case. */
export function spelled(name: string, base: string): string {
  const plain = name !== '' && name === upperCase(name) && !NOT_PLAIN.test(name);
  if (!plain || /^\|.*\|$/s.test(base)) return inBars(name);
  return /[A-Z]/.test(base) && !/[a-z]/.test(base) ? name : lowerCase(name);
}

/** Returns the name and any package prefix of the symbol TEXT; undefined when TEXT is not one symbol. */
export function symbolIn(text: string): { name: string; prefix?: string } | undefined {
  const { kind, start, end } = nextToken(text, 0);
  const token = text.slice(start, end);
  const name = tokenName(kind, token);
  if (kind !== 'atom' || name === '' || text.slice(end).trim() !== '' || token.startsWith('#'))
    return undefined;
  const { prefix, base } = writtenSymbol(token);
  const written = token.slice(base);
  // TEXT is a number, or consists of dots.
  if (!/[\\|]/.test(written) && NOT_PLAIN.test(written)) return undefined;
  return { name: withoutPackage(name), ...(prefix !== undefined && { prefix }) };
}
