/** Finds quickly the texts and forms that may contain a name, so that the others need no parsing. */

import { type Form, FormReader, formsWithin } from './form.ts';
import { upperCase } from './lexer.ts';
import { treeOf } from './tree.ts';

const ESCAPE = /[\\|]/;

/** Returns true when TEXT may contain one of SYMBOLS, names as the reader interns them. Misses a symbol that TEXT
 * writes only with needless escapes, such as a\REA. */
export function mayContainPlainly(text: string, symbols: readonly string[]): boolean {
  const upper = upperCase(text);
  return symbols.some((symbol) => ESCAPE.test(symbol) || upper.includes(upperCase(symbol)));
}

/** Returns true when TEXT may contain one of SYMBOLS. Does not miss symbols that are written with needless escapes. */
export function mayContain(text: string, symbols: readonly string[]): boolean {
  return ESCAPE.test(text) || mayContainPlainly(text, symbols);
}

/** Yields the top-level forms of TEXT that may contain one of SYMBOLS, including forms that #+ or #- excludes. */
export function* formsMentioning(text: string, symbols: readonly string[]): Generator<Form, void> {
  for (const form of new FormReader(treeOf(text)).forms()) if (mayContain(form.text, symbols)) yield form;
}

/** Yields the atoms of FORM, such as symbols and strings, without feature expressions. */
export function* atomsIn(form: Form): Generator<Form, void> {
  for (const part of formsWithin(form)) if (part.notation === 'atom') yield part;
}
