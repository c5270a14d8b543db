/** Finds quickly the texts and top-level forms that may contain a name, so that the others need not be read. */

import { type Form, Reading, within } from './form.ts';
import { upperCase } from './lexer.ts';
import { treeOf } from './tree.ts';

const ESCAPE = /[\\|]/;

/** True when TEXT may contain one of SYMBOLS, which are names as the reader interns them. Wrongly returns false when
 *  TEXT writes a symbol only with needless escapes, such as a\REA. */
export function canHave(text: string, symbols: readonly string[]): boolean {
  const upper = upperCase(text);
  return symbols.some((symbol) => ESCAPE.test(symbol) || upper.includes(upperCase(symbol)));
}

/** True when TEXT may contain one of SYMBOLS, however that is escaped. */
export function mayHave(text: string, symbols: readonly string[]): boolean {
  return ESCAPE.test(text) || canHave(text, symbols);
}

/** Yields the atoms of TEXT, such as symbols and strings. Leaves out feature expressions, and top-level forms whose text
 *  contains none of SYMBOLS. */
export function* atomsIn(text: string, symbols: readonly string[]): Generator<Form, void> {
  for (const form of new Reading(treeOf(text)).forms())
    if (mayHave(form.text, symbols)) for (const part of within(form)) if (part.mark === 'atom') yield part;
}
