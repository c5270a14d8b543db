/** Walks the forms of a source, and separates code from quoted data and backquotes. */

import { elementsOf } from './fits.ts';
import { type Form, readForm, resolve } from './form.ts';
import { canHave } from './mentioning.ts';
import { TopLevelForms } from './position.ts';
import { nonForms } from './syntax.ts';
import type { SourceText } from './text.ts';

/** Callbacks for the forms of one top-level form. */
export interface Visitor {
  /** Is called with a FORM and its ELEMENTS; DATA is true when it is quoted or in a backquote. */
  visit: (form: Form, elements: readonly Form[], data: boolean) => void;
  /** Returns which parts of a form with ELEMENTS to walk; DATA is as for `visit`. Without it, all elements are
   *  walked. */
  within?: (elements: readonly Form[], data: boolean) => readonly Form[];
}

/** Walks the top-level forms of SOURCE under FEATURES whose text contains one of WORDS, names without packages.
 *  VISITOR_FOR returns the callbacks for a top-level form; its arguments are the start of that form, its package if
 *  known, and the set of forms seen in it. The walk adds to this set, and skips forms that are in it. */
export function walkSource(
  source: SourceText,
  features: ReadonlySet<string>,
  words: readonly string[],
  visitorFor: (top: number, home: string | undefined, seen: Set<Form>) => Visitor,
): void {
  if (!canHave(source.text, words)) return;
  const forms = new TopLevelForms(source, features);
  for (let n = 0; ; n++) {
    const top = forms.start(n);
    if (top === undefined) return;
    const end = forms.start(n + 1) ?? source.text.length;
    if (!canHave(source.text.slice(top, end), words)) continue;
    const form = readForm(source.text, top, features);
    const seen = new Set<Form>();
    if (form) walk(form, visitorFor(top, forms.packageAt(top), seen), seen, 0, false);
  }
}

/** Walks the form START and its parts. DEPTH is the number of backquotes around it, minus the commas; QUOTED means that
 *  it is within a QUOTE. */
function walk(start: Form, visitor: Visitor, seen: Set<Form>, depth: number, quoted: boolean): void {
  const form = resolve(start);
  if (form === undefined || seen.has(form)) return;
  if (form.kind === 'comma') {
    if (form.car) walk(form.car, visitor, seen, Math.max(0, depth - 1), quoted);
    return;
  }
  // The reader evaluates a `#.` form, even in data.
  if (form.kind === 'made' && form.car) walk(form.car, visitor, seen, 0, false);
  if (form.kind !== 'cons') return;
  seen.add(form);
  const elements = elementsOf(form) ?? partsOf(form);
  const data = depth > 0 || quoted;
  visitor.visit(form, elements, data);
  const operator = operatorOf(elements[0]);
  const inner = form.template ? depth + 1 : depth;
  const lists = quoted || inner > 0 ? new Map<Form, Form[]>() : nonForms(elements);
  for (const element of visitor.within?.(elements, data) ?? elements)
    for (const each of lists.get(element) ?? [element])
      walk(each, visitor, seen, inner, quoted || operator === 'QUOTE');
  for (const part of lists.keys()) for (const made of madeIn(part)) walk(made, visitor, seen, 0, false);
}

/** Returns the `#.` forms in FORM, at any depth. */
function madeIn(form: Form): Form[] {
  const made: Form[] = [];
  for (
    let cell: Form | undefined = form;
    cell !== undefined;
    cell = cell.kind === 'cons' ? cell.cdr : undefined
  ) {
    if (cell.kind === 'made') made.push(cell);
    if (cell.kind === 'cons' && cell.car) made.push(...madeIn(cell.car));
  }
  return made;
}

/** Returns the elements of a dotted list, the last one included. */
function partsOf(form: Form): Form[] {
  const parts: Form[] = [];
  let cell: Form | undefined = form;
  for (; cell?.kind === 'cons' && parts.length < 10_000; cell = resolve(cell.cdr))
    if (cell.car) parts.push(cell.car);
  return cell ? [...parts, cell] : parts;
}

/** Returns the name of FORM, mostly an operator, as in Token: a symbol of Common Lisp has no package in it. Returns ''
 *  when FORM is a list or missing. */
export function operatorOf(form: Form | undefined): string {
  return resolve(form)?.name ?? '';
}
