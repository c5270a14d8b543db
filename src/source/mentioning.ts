/** Finds quickly the texts and top-level forms that may contain a name, so that the others need not be read. */

import { upperCase } from './lexer.ts';
import type { TopLevelForms } from './position.ts';

const ESCAPE = /[\\|]/;

/** True when TEXT may contain one of SYMBOLS, which are names as the reader interns them. Wrongly returns false when
 *  TEXT writes a symbol only with needless escapes, such as a\REA. */
export function canHave(text: string, symbols: readonly string[]): boolean {
  const upper = upperCase(text);
  return symbols.some((symbol) => ESCAPE.test(symbol) || upper.includes(upperCase(symbol)));
}

/** Returns the starts of the forms that may contain NAME, which is `NAME` or `SETF NAME`. Forms with any escape
 *  character are included. */
export function formsMentioning(forms: TopLevelForms, name: string): number[] {
  const symbol = symbolIn(name);
  return forms.starts().filter((start) => {
    const text = forms.source.text.slice(start, forms.end(start));
    return ESCAPE.test(text) || canHave(text, [symbol]);
  });
}

/** Returns the symbol of NAME, which is `NAME` or `SETF NAME`. */
export function symbolIn(name: string): string {
  return name.replace(/^SETF /, '');
}
