// Finds the value that *PACKAGE* has where a form of a file begins.

import { bareName, elementsOf, type Form } from './form.ts';

/** The package assumed for a file without IN-PACKAGE. That is wrong when another package is current during the load. */
export const USUAL_PACKAGE = 'COMMON-LISP-USER';

/** Operators whose subforms are top-level forms too. */
const SPREADING: readonly string[] = ['EVAL-WHEN', 'LOCALLY', 'PROGN'];

/** Returns the current package at FILE's start; undefined when unsure. ASDF reads .asd files in its own package. */
export function packageAtStart(file: string | undefined): string | undefined {
  return file?.endsWith('.asd') ? 'ASDF-USER' : undefined;
}

/** Yields FORM, a top-level form; for a PROGN and the like the top-level forms in it. */
export function* spread(form: Form): Generator<Form, void> {
  const left = [form];
  const seen = new Set<number>();
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (!SPREADING.includes(bareName(next.first))) yield next;
    else if (!seen.has(next.at)) for (const part of elementsOf(next).reverse()) left.push(part);
    seen.add(next.at);
  }
}

/** Returns the package that FORM, a top-level form, makes current for the forms behind it; undefined when it does not
 *  change the package. */
export function packageEntered(form: Form): string | undefined {
  let entered: string | undefined;
  for (const each of spread(form))
    if (bareName(each.first) === 'IN-PACKAGE') entered = elementsOf(each)[1]?.designated ?? entered;
  return entered;
}
