/** Lists what the top-level forms of a Lisp text define, judged by their shape: operator, name, and what follows. */

import { headOf } from './again.ts';
import { elementsOf, type Form, formText } from './form.ts';
import { MARK } from './lexer.ts';
import type { TopLevelForms } from './position.ts';

/** A form that names something, as an outline of its file shows it. */
export interface Defined {
  /** UTF-16 indices of its text. */
  start: number;
  end: number;
  /** How many forms are around it, such as the EVAL-WHEN in (eval-when (...) (defun name ...)). */
  depth: number;
  /** The operator and the name as written; the name can be a list or a string. */
  operator: string;
  name: string;
  /** The first list behind the name, such as a lambda list, with any qualifiers; and the docstring's first line. */
  list?: string;
  documentation?: string;
}

/** Returns what FORMS define, in text order. Forms that are no list or name nothing are left out. */
export function definitionsIn(forms: TopLevelForms): Defined[] {
  return forms.starts().flatMap((start) => [...definedAt(forms, start)]);
}

/** Yields what the form at START of FORMS defines, nested definitions included. It is a generator because a form that
 *  is a table of data can look like very many definitions. */
export function* definedAt(forms: TopLevelForms, start: number): Generator<Defined, void> {
  const found = forms.at(start);
  if (found) yield* definedBy(found.form, forms.source.text, 0);
}

/** How deep definitions are searched for within forms that have no name. */
const DEPTH = 3;

function* definedBy(form: Form, text: string, depth: number): Generator<Defined, void> {
  const [operator, name, ...rest] = elementsOf(form);
  if (operator?.kind !== 'atom' || !operator.name || operator.name.startsWith(MARK) || name === undefined)
    return;
  const start = form.start;
  const place = { start, end: start + formText(text, form).length, depth };
  const written = { operator: formText(text, operator).toLowerCase(), name: onOneLine(formText(text, name)) };
  if (name.kind === 'cons' && !/^\(setf\s/i.test(written.name)) {
    const inner = depth < DEPTH ? definedByEach([name, ...rest], text, depth + 1) : undefined;
    const first = inner?.next();
    if (depth > 0 && (first === undefined || first.done)) return;
    yield { ...place, ...written };
    if (first?.value !== undefined) yield first.value;
    if (inner !== undefined) yield* inner;
    return;
  }
  const list = listAfter(rest, text);
  const documentation = documentationIn(rest, text);
  yield { ...place, ...written, list, documentation };
}

function* definedByEach(forms: readonly Form[], text: string, depth: number): Generator<Defined, void> {
  for (const form of forms) yield* definedBy(form, text, depth);
}

/** Returns the text of the first list in REST, the elements behind a name, with up to two qualifiers before it. Returns
 *  undefined when there is no such list. */
function listAfter(rest: Form[], text: string): string | undefined {
  const at = rest.findIndex(({ kind, start }) => kind === 'cons' || text.startsWith('()', start));
  const parts =
    at === -1 || at > 2 ? [] : rest.slice(0, at + 1).map((part) => onOneLine(formText(text, part)));
  return parts.length > 0 && parts.every((part) => !part.startsWith('"')) ? parts.join(' ') : undefined;
}

/** Returns the first line of the docstring in REST, the elements behind the name: the string in (:documentation ...),
 *  or the first string unless it is the only element, and so a value. */
function documentationIn(rest: Form[], text: string): string | undefined {
  const strings = rest.slice(0, 3).filter(({ start }) => text[start] === '"');
  const option = rest.find(({ start }) => /^\(:documentation\s/i.test(text.slice(start, start + 16)));
  const said = option ? elementsOf(option)[1] : rest.length > 1 ? strings[0] : undefined;
  const line = said && formText(text, said).slice(1, -1).trim().split('\n')[0];
  return line || undefined;
}

/** Returns TEXT, of a form, on one line and without line comments. */
export function onOneLine(text: string): string {
  return text.replace(/;[^\n]*\n/g, '\n').replace(/\s+/g, ' ');
}

/** Returns the span of the list that defines SYMBOL in the top-level form at START of FORMS. It is the whole form,
 *  unless exactly one list in it has the name behind its operator. */
export function innermostDefining(
  forms: TopLevelForms,
  start: number,
  symbol: string,
): { start: number; end: number } | undefined {
  const found = forms.at(start);
  if (found === undefined) return undefined;
  const { text } = forms.source;
  const whole = { start: found.start, end: found.end };
  if (headOf(found.form, text)?.name === symbol) return whole;
  const inner: Form[] = [];
  const visit = (form: Form, depth: number) => {
    if (headOf(form, text)?.name === symbol) inner.push(form);
    else if (depth < 6) for (const each of elementsOf(form)) if (each.kind === 'cons') visit(each, depth + 1);
  };
  visit(found.form, 0);
  const [only, ...more] = inner;
  if (only === undefined || more.length > 0) return whole;
  return { start: only.start, end: only.start + formText(text, only).length };
}
