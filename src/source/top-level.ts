/** Lists the top-level forms of a Lisp text with their operators and names. */

import { type Form, namedBy } from './form.ts';
import type { TopLevelForms } from './position.ts';

/** A top-level form. NUMBER is 0-based; END is where the next form begins. OPERATOR and NAME are its first two
 *  elements, as the reader interns them, with OPERATOR unqualified; NAME of a setf function is `(SETF NAME)`. HOME is
 *  the package in which the form is read. */
export interface TopLevelForm {
  number: number;
  start: number;
  end: number;
  operator: string;
  name?: string;
  home: string;
}

/** Returns FORMS with their operators and names. */
export function topLevelForms(forms: TopLevelForms): TopLevelForm[] {
  const { text } = forms.source;
  return forms.starts().map((start, number, starts) => {
    const end = starts[number + 1] ?? text.length;
    return { number, start, end, ...headAt(forms.at(start)), home: forms.homeAt(start) };
  });
}

function headAt(form: Form | undefined): { operator: string; name?: string } {
  const [operator, second] = form?.token === '(' ? form.elements : [];
  if (operator?.mark !== 'atom') return { operator: '' };
  const { symbol, setf } = namedBy(second?.mark === '(' || second?.mark === 'atom' ? second : undefined);
  const name = symbol?.mark === 'atom' ? symbol.name : '';
  return { operator: operator.bare, ...(name && { name: setf ? `(SETF ${name})` : name }) };
}
