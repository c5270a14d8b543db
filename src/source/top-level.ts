/** Decides what a top-level form of a Lisp text is called. */

import { bare, MARK, nextToken } from './lexer.ts';
import type { TopLevelForms } from './position.ts';

/** A top-level form from index START up to END of its text. OPERATOR and NAME are what it begins with, as the reader
 *  takes them; a setf function is `(SETF NAME)`. HOME is the package in which it is read. */
export interface TopLevelForm {
  number: number;
  start: number;
  end: number;
  operator: string;
  name?: string;
  home: string;
}

/** Returns FORMS with what they name. */
export function topLevelForms(forms: TopLevelForms): TopLevelForm[] {
  const { text } = forms.source;
  return forms.starts().map((start, number, starts) => {
    const end = starts[number + 1] ?? text.length;
    return { number, start, end, ...headAt(text, start), home: forms.homeAt(start) };
  });
}

/** Returns the symbols that the list at index START of SOURCE has as its operator and arguments, as the reader takes them.
 *  Those behind a quote count. */
export function partsOf(source: string, start: number): string[] {
  const names: string[] = [];
  let depth = 0;
  for (let at = start; ; ) {
    const token = nextToken(source, at, false);
    if (token.kind === 'end') return names;
    if (token.kind === '(' || token.kind === '#(') depth++;
    if (token.kind === ')') depth--;
    if (depth === 0) return names;
    if (depth === 1 && token.kind === 'atom' && !token.name.startsWith(MARK)) names.push(token.name);
    at = token.end;
  }
}

function headAt(source: string, start: number): { operator: string; name?: string } {
  const open = nextToken(source, start, false);
  if (open.kind !== '(') return { operator: '' };
  const operator = nextToken(source, open.end, false);
  if (operator.kind !== 'atom') return { operator: '' };
  const name = nameAt(source, operator.end);
  return { operator: bare(operator.name), ...(name && { name }) };
}

/** Gives the name at or after index FROM: a symbol, a string, a setf function, or what a list there begins with. */
function nameAt(source: string, from: number): string | undefined {
  const first = nextToken(source, from, false);
  if (first.kind === 'atom') return source.charAt(first.start) === '"' ? undefined : first.name || undefined;
  if (first.kind !== '(') return undefined;
  const inner = nextToken(source, first.end, false);
  if (inner.kind !== 'atom' || inner.name === '') return undefined;
  const place = nextToken(source, inner.end, false);
  return inner.name === 'SETF' && place.kind === 'atom' ? `(SETF ${place.name})` : inner.name;
}
