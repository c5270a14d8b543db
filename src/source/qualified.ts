/** Parses and writes names as the image prints them: `PACKAGE::NAME` or `PACKAGE::(SETF NAME)`. */

import { PACKAGE_MARKER, withoutPackage } from './lexer.ts';
import { inBars, spelled } from './symbol-text.ts';

/** The parts of a name: its package `home` ('' for none), and its `symbol`. `setf` is true for a setf function. */
interface QualifiedName {
  home: string;
  symbol: string;
  setf: boolean;
}

/** Returns the parts of NAME. A setf function may also be printed as `(SETF PACKAGE::NAME)`. */
export function partsOfName(name: string): QualifiedName {
  const [, printed, home = '', list, rest = ''] = /^(\(SETF )?(?:(.*?)::)?(\(SETF )?(.*)$/s.exec(name) ?? [];
  const setf = printed !== undefined || list !== undefined;
  return { home, symbol: setf ? rest.slice(0, -1) : rest, setf };
}

/** Returns NAME without its package: `NAME` or `(SETF NAME)`. */
export function unqualifiedName(name: string): string {
  const { symbol, setf } = partsOfName(name);
  return setf ? `(SETF ${symbol})` : symbol;
}

/** Returns NAME without its package in the notation of the member `name` of a Definition: `NAME` or `SETF NAME`. */
export function definitionNameOf(name: string): string {
  const { symbol, setf } = partsOfName(name);
  return setf ? `SETF ${symbol}` : symbol;
}

/** Returns the name of the setf function of the function NAME. */
export function setfName(name: string): string {
  const { home, symbol } = partsOfName(name);
  return `${home}::(SETF ${symbol})`;
}

/** Returns the name of SYMBOL's definition of kind NATURE, as the image prints it. */
export function definedName(symbol: string, nature: string): string {
  return nature === 'SETF FUNCTION' ? setfName(symbol) : symbol;
}

/** Returns the qualified NAME as code can write it, in vertical bars where needed. */
export function codeName(name: string): string {
  const { home, symbol, setf } = partsOfName(name);
  const written = [home, symbol].map((part) => spelled(part, 'A')).join('::');
  return setf ? `(setf ${written})` : written;
}

/** Returns the name without its package. Puts it in vertical bars if the reader would otherwise read another symbol. */
export function readableName({ symbol, setf }: Pick<QualifiedName, 'symbol' | 'setf'>): string {
  return setf ? `(setf ${inBars(symbol)})` : inBars(symbol);
}

/** Returns NAME, the name of a token, as `PACKAGE::NAME`. Before, PACKAGE_MARKER separates the package. A name without
 * a package gets the package HOME. */
export function qualified(name: string, home: string): string {
  const setf = /^\(SETF (.*)\)$/s.exec(name)?.[1];
  const symbol = setf ?? name;
  const separator = symbol.indexOf(PACKAGE_MARKER);
  const isKeyword = separator === 0 && symbol.charAt(1) !== PACKAGE_MARKER;
  const prefix = isKeyword ? 'KEYWORD' : separator > 0 ? symbol.slice(0, separator) : home;
  return `${prefix}::${setf === undefined ? withoutPackage(symbol) : `(SETF ${withoutPackage(symbol)})`}`;
}

/** Returns the prefix `PACKAGE::` that all of NAMES share; '' when they share none. */
export function commonPrefix(names: readonly string[]): string {
  const homes = new Set(names.map((name) => partsOfName(name).home));
  const [home = ''] = homes;
  return homes.size === 1 && home !== '' ? `${home}::` : '';
}
