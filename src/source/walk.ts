/** Decides which lists of a source are forms, and which of them are data or parts of a backquote. */

import { bindingsIn } from './bindings.ts';
import { elementsOf } from './fits.ts';
import { type Form, readForm, resolve } from './form.ts';
import { TopLevelForms } from './position.ts';
import type { SourceText } from './text.ts';

/** What is done with the forms of one top-level form. */
export interface Visitor {
  /** Takes a FORM of ELEMENTS; DATA says that it is quoted or in a backquote. Forms in SEEN are not looked into. */
  visit: (form: Form, elements: readonly Form[], data: boolean, seen: Set<Form>) => void;
  /** Whether nothing in a form of ELEMENTS is of interest. */
  skips?: (elements: readonly Form[]) => boolean;
}

/** Walks the top-level forms of SOURCE under FEATURES that have one of WORDS, bare names, in their text. VISITOR_FOR takes
 *  where each begins, and the package that is entered there if one is known. */
export function walkSource(
  source: SourceText,
  features: ReadonlySet<string>,
  words: readonly string[],
  visitorFor: (top: number, home: string | undefined) => Visitor,
): void {
  const names = (text: string) => {
    const upper = text.toUpperCase();
    return words.some((word) => upper.includes(word));
  };
  if (!names(source.text)) return;
  const forms = new TopLevelForms(source, features);
  for (let n = 0; ; n++) {
    const top = forms.start(n);
    if (top === undefined) return;
    const end = forms.start(n + 1) ?? source.text.length;
    if (!names(source.text.slice(top, end))) continue;
    const form = readForm(source.text, top, features);
    if (form) walk(form, visitorFor(top, forms.packageAt(top)), new Set(), 0, false);
  }
}

/** Visits START and what is in it. DEPTH counts backquotes around it, QUOTED says that it is data. */
function walk(start: Form, visitor: Visitor, seen: Set<Form>, depth: number, quoted: boolean): void {
  const form = resolve(start);
  if (form === undefined || seen.has(form)) return;
  if (form.kind === 'comma') {
    if (form.car) walk(form.car, visitor, seen, Math.max(0, depth - 1), quoted);
    return;
  }
  // The reader evaluates what stands behind #. wherever that is.
  if (form.kind === 'made' && form.car) walk(form.car, visitor, seen, 0, false);
  if (form.kind !== 'cons') return;
  seen.add(form);
  const elements = elementsOf(form) ?? partsOf(form);
  if (visitor.skips?.(elements)) return;
  visitor.visit(form, elements, depth > 0 || quoted, seen);
  const operator = operatorOf(elements[0]);
  const inner = form.template ? depth + 1 : depth;
  const bindings = quoted || inner > 0 ? new Map<Form, Form[]>() : bindingsIn(elements);
  for (const element of elements)
    for (const each of bindings.get(element) ?? [element])
      walk(each, visitor, seen, inner, quoted || operator === 'QUOTE');
}

/** Gives the elements of a list with a dot. */
function partsOf(form: Form): Form[] {
  const parts: Form[] = [];
  let cell: Form | undefined = form;
  for (; cell?.kind === 'cons' && parts.length < 10_000; cell = resolve(cell.cdr))
    if (cell.car) parts.push(cell.car);
  return cell ? [...parts, cell] : parts;
}

/** Returns the name of FORM, as the operator of a form: that of a symbol of Common Lisp has no package. */
export function operatorOf(form: Form | undefined): string {
  return resolve(form)?.name ?? '';
}
