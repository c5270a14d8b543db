/** Lists the top-level forms of a Lisp text with their operators and names. */

import { bare, nextToken } from './lexer.ts';
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
    return { number, start, end, ...headAt(text, start), home: forms.homeAt(start) };
  });
}

function headAt(source: string, start: number): { operator: string; name?: string } {
  const open = nextToken(source, start, false);
  if (open.kind !== '(') return { operator: '' };
  const operator = nextToken(source, open.end, false);
  if (operator.kind !== 'atom') return { operator: '' };
  const name = nameAt(source, operator.end);
  return { operator: bare(operator.name), ...(name && { name }) };
}

/** Returns the name at or after FROM: a symbol, a setf function, or the first symbol of a list. None for a string. */
function nameAt(source: string, from: number): string | undefined {
  const first = nextToken(source, from, false);
  if (first.kind === 'atom') return source.charAt(first.start) === '"' ? undefined : first.name || undefined;
  if (first.kind !== '(') return undefined;
  const inner = nextToken(source, first.end, false);
  if (inner.kind !== 'atom' || inner.name === '') return undefined;
  const place = nextToken(source, inner.end, false);
  return inner.name === 'SETF' && place.kind === 'atom' ? `(SETF ${place.name})` : inner.name;
}
