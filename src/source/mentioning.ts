/** Decides which texts, and which top-level forms of one, can have a name, so that only these are read. */

import { upperCase } from './lexer.ts';
import type { TopLevelForms } from './position.ts';

const ESCAPE = /[\\|]/;

/** Returns whether TEXT can have one of SYMBOLS, names as the reader has them. Needless escapes in TEXT are not heeded. */
export function canHave(text: string, symbols: readonly string[]): boolean {
  const upper = upperCase(text);
  return symbols.some((symbol) => ESCAPE.test(symbol) || upper.includes(upperCase(symbol)));
}

/** Returns where the forms of FORMS begin that can have NAME, a symbol as texts have it, `SETF NAME` too. Those that write any
 *  symbol with escapes are among them. */
export function formsMentioning(forms: TopLevelForms, name: string): number[] {
  const symbol = symbolIn(name);
  return forms.starts().filter((start) => {
    const text = forms.source.text.slice(start, forms.end(start));
    return ESCAPE.test(text) || canHave(text, [symbol]);
  });
}

/** Returns the symbol of NAME, which can be `SETF NAME`. */
export function symbolIn(name: string): string {
  return name.replace(/^SETF /, '');
}
