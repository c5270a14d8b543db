/** Decides which texts, and which top-level forms of one, can have a name, so that only these are read. */

import type { TopLevelForms } from './position.ts';

/** What can be written otherwise than the reader has it: with escapes, or with characters that it takes for others. */
const ODD = /[\\|]|[^\0-\x7f]/;

/** Returns whether TEXT can have one of SYMBOLS, names as the reader has them. Needless escapes in TEXT are not heeded. */
export function canHave(text: string, symbols: readonly string[]): boolean {
  const upper = text.toUpperCase();
  return symbols.some((symbol) => ODD.test(symbol) || upper.includes(symbol.toUpperCase()));
}

/** Returns where the forms of FORMS begin that can have NAME, a symbol as texts have it, `SETF NAME` too. Those that write any
 *  symbol with escapes are among them. */
export function formsMentioning(forms: TopLevelForms, name: string): number[] {
  const symbol = symbolIn(name);
  return forms.starts().filter((start) => {
    const text = forms.source.text.slice(start, forms.end(start));
    return canHave(text, [symbol]) || ODD.test(text);
  });
}

/** Returns the symbol of NAME, which can be `SETF NAME`. */
export function symbolIn(name: string): string {
  return name.replace(/^SETF /, '');
}
