// Finds the value that *PACKAGE* has where a form of a file begins.

import { bareName, elementsOf, type Form, resolve } from './form.ts';

/** The package assumed for a file without IN-PACKAGE. That is wrong when another package is current during the load. */
export const USUAL_PACKAGE = 'COMMON-LISP-USER';

/** Operators whose subforms are top-level forms too. */
export const SPREADING: readonly string[] = ['EVAL-WHEN', 'LOCALLY', 'PROGN'];

/** Returns the current package at FILE's start; undefined when unsure. ASDF reads .asd files in its own package. */
export function packageAtStart(file: string | undefined): string | undefined {
  return file?.endsWith('.asd') ? 'ASDF-USER' : undefined;
}

/** Returns the package that FORM, a top-level form of TEXT, makes current for the forms behind it; undefined when it
 *  does not change the package. */
export function packageEntered(form: Form | undefined, text: string): string | undefined {
  if (form?.kind !== 'cons') return undefined;
  if (SPREADING.includes(bareName(form.car)))
    return elementsOf(form).reduce<string | undefined>(
      (last, part) => packageEntered(part, text) ?? last,
      undefined,
    );
  if (bareName(form.car) !== 'IN-PACKAGE') return undefined;
  const named = resolve(resolve(form.cdr)?.car);
  if (named?.kind !== 'atom') return undefined;
  const string = /^"((?:[^"\\]|\\.)*)"/s.exec(text.slice(named.start));
  if (string !== null) return string[1]?.replace(/\\(.)/gs, '$1');
  return bareName(named) || undefined;
}
