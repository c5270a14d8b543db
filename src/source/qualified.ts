/** Decides how the image writes names, and what they consist of: `PACKAGE::NAME`, of a setf function `PACKAGE::(SETF NAME)`. */

import { bare, MARK } from './lexer.ts';
import { inBars, spelled } from './symbol-text.ts';

/** What a name consists of: its package, '' when it has none, and its symbol without that. */
export interface QualifiedName {
  home: string;
  symbol: string;
  setf: boolean;
}

/** Returns what NAME consists of. That of a setf function can be printed, too: `(SETF PACKAGE::NAME)`. */
export function partsOfName(name: string): QualifiedName {
  const [, printed, home = '', list, rest = ''] = /^(\(SETF )?(?:(.*?)::)?(\(SETF )?(.*)$/s.exec(name) ?? [];
  const setf = printed !== undefined || list !== undefined;
  return { home, symbol: setf ? rest.slice(0, -1) : rest, setf };
}

/** Returns NAME without its package: `NAME` or `(SETF NAME)`. */
export function bareOf(name: string): string {
  const { symbol, setf } = partsOfName(name);
  return setf ? `(SETF ${symbol})` : symbol;
}

/** Returns NAME as the head of a form that defines it: `NAME` or `SETF NAME`. */
export function headNameOf(name: string): string {
  const { symbol, setf } = partsOfName(name);
  return setf ? `SETF ${symbol}` : symbol;
}

/** Returns the name of the setf function of the function NAME. */
export function setfName(name: string): string {
  const { home, symbol } = partsOfName(name);
  return `${home}::(SETF ${symbol})`;
}

/** Returns NAME, which has a package, as code has it, with bars where it needs them. */
export function codeName(name: string): string {
  const { home, symbol, setf } = partsOfName(name);
  const written = [home, symbol].map((part) => spelled(part, 'A')).join('::');
  return setf ? `(setf ${written})` : written;
}

/** Returns NAME without its package as the reader takes it for that very symbol. */
export function readableName({ symbol, setf }: Pick<QualifiedName, 'symbol' | 'setf'>): string {
  return setf ? `(setf ${inBars(symbol)})` : inBars(symbol);
}

/** Returns NAME, as the reader takes it, as `PACKAGE::NAME`, where one without a package is of HOME. */
export function qualified(name: string, home: string): string {
  const setf = /^\(SETF (.*)\)$/s.exec(name)?.[1];
  const symbol = setf ?? name;
  const mark = symbol.indexOf(MARK);
  const isKeyword = mark === 0 && symbol.charAt(1) !== MARK;
  const prefix = isKeyword ? 'KEYWORD' : mark > 0 ? symbol.slice(0, mark) : home;
  return `${prefix}::${setf === undefined ? bare(symbol) : `(SETF ${bare(symbol)})`}`;
}

/** Returns the package and `::` that all of NAMES have before their symbols; '' when they have not one in common. */
export function commonPrefix(names: readonly string[]): string {
  const homes = new Set(names.map((name) => partsOfName(name).home));
  const [home = ''] = homes;
  return homes.size === 1 && home !== '' ? `${home}::` : '';
}
