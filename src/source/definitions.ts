/** Lists what the top-level forms of a Lisp text define, judged by their shape: operator, name, and what follows. */

import { headOf } from './again.ts';
import { elementsOf, type Form } from './form.ts';
import { MARK } from './lexer.ts';
import type { TopLevelForms } from './position.ts';
import type { Span } from './tree.ts';

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
  const form = forms.at(start);
  if (form) yield* definedBy(form, 0);
}

/** How deep definitions are searched for within forms that have no name. */
const DEPTH = 3;

function* definedBy(form: Form, depth: number): Generator<Defined, void> {
  const [operator, name, ...rest] = elementsOf(form);
  if (operator?.kind !== 'atom' || !operator.name || operator.name.startsWith(MARK) || name === undefined)
    return;
  const place = { start: form.start, end: form.end, depth };
  const written = { operator: operator.text.toLowerCase(), name: onOneLine(name.text) };
  if (name.kind === 'cons' && !/^\(setf\s/i.test(written.name)) {
    const inner = depth < DEPTH ? definedByEach([name, ...rest], depth + 1) : undefined;
    const first = inner?.next();
    if (depth > 0 && (first === undefined || first.done)) return;
    yield { ...place, ...written };
    if (first?.value !== undefined) yield first.value;
    if (inner !== undefined) yield* inner;
    return;
  }
  const list = listAfter(rest);
  const documentation = documentationIn(rest);
  yield { ...place, ...written, list, documentation };
}

function* definedByEach(forms: readonly Form[], depth: number): Generator<Defined, void> {
  for (const form of forms) yield* definedBy(form, depth);
}

/** Returns the text of the first list in REST, the elements behind a name, with up to two qualifiers before it. Returns
 *  undefined when there is no such list. */
function listAfter(rest: Form[]): string | undefined {
  const at = rest.findIndex(({ kind, mark }) => kind === 'cons' || mark === '(');
  const parts = at === -1 || at > 2 ? [] : rest.slice(0, at + 1).map((part) => onOneLine(part.text));
  return parts.length > 0 && parts.every((part) => !part.startsWith('"')) ? parts.join(' ') : undefined;
}

/** Returns the first line of the docstring in REST, the elements behind the name: the string in (:documentation ...),
 *  or the first string unless it is the only element, and so a value. */
function documentationIn(rest: Form[]): string | undefined {
  const strings = rest.slice(0, 3).filter(({ isString }) => isString);
  const option = rest.find((part) => part.mark === '(' && part.first?.name === `${MARK}DOCUMENTATION`);
  const said = option ? elementsOf(option)[1] : rest.length > 1 ? strings[0] : undefined;
  const line = said?.text.slice(1, -1).trim().split('\n')[0];
  return line || undefined;
}

/** Returns TEXT, of a form, on one line and without line comments. */
export function onOneLine(text: string): string {
  return text.replace(/;[^\n]*\n/g, '\n').replace(/\s+/g, ' ');
}

/** Returns the span of the list that defines SYMBOL in the top-level form at START of FORMS. It is the whole form,
 *  unless exactly one list in it has the name behind its operator. */
export function innermostDefining(forms: TopLevelForms, start: number, symbol: string): Span | undefined {
  const whole = forms.at(start);
  if (whole === undefined || headOf(whole)?.name === symbol) return whole;
  const inner: Form[] = [];
  const visit = (form: Form, depth: number) => {
    if (headOf(form)?.name === symbol) inner.push(form);
    else if (depth < 6) for (const each of elementsOf(form)) if (each.kind === 'cons') visit(each, depth + 1);
  };
  visit(whole, 0);
  const [only = whole, ...more] = inner;
  return more.length > 0 ? whole : only;
}
