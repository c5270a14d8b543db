/** Walks the forms of a source text, and distinguishes code from quoted data and backquotes. */

import { type Form, nameOf, spineOf } from './form.ts';
import { mayContainPlainly } from './mentioning.ts';
import { nonForms } from './syntax.ts';
import type { SourceText } from './text.ts';
import { TopLevelForms } from './top-level.ts';

/** Callbacks for the forms of one top-level form. */
interface Visitor {
  /** Called for each form with its elements. `data` is true when the form is quoted or in a backquote. */
  visit: (form: Form, elements: readonly Form[], data: boolean) => void;
  /** Returns the parts of a form with `elements` to walk; by default all elements. */
  within?: (elements: readonly Form[], data: boolean) => readonly Form[];
}

/** Reads SOURCE as an SBCL with FEATURES would, and walks the top-level forms that may contain one of WORDS, names
 * without packages. VISITOR_FOR returns the callbacks for the top-level form `top`. `current` is the package there,
 * undefined if unknown. `seen` has the index of the first token of each list that was walked. The walk skips the forms
 * in `seen`, so a callback can add to it the forms to skip. */
export function walkSource(
  source: SourceText,
  features: ReadonlySet<string>,
  words: readonly string[],
  visitorFor: (top: Form, current: string | undefined, seen: Set<number>) => Visitor,
): void {
  if (!mayContainPlainly(source.text, words)) return;
  for (const { form, current } of new TopLevelForms(source, features).mentioning(words)) {
    const seen = new Set<number>();
    walk(form, visitorFor(form, current, seen), seen);
  }
}

/** A form to walk. `depth` is the number of backquotes around it minus the number of commas. `quoted` is true inside a
 * QUOTE. */
interface PendingForm {
  form: Form;
  depth: number;
  quoted: boolean;
  /** Set for a list that is not evaluated as a form: the walk visits only `#.` forms in it. */
  isSilent?: true;
}

function walk(top: Form, visitor: Visitor, seen: Set<number>): void {
  const pending: PendingForm[] = [{ form: top, depth: 0, quoted: false }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { form } = next;
    const { inner } = form;
    if (seen.has(form.firstToken)) continue;
    if (form.kind === 'comma' && inner)
      pending.push({ ...next, form: inner, depth: Math.max(0, next.depth - 1) });
    // The reader evaluates a `#.` form, even in data.
    else if (form.kind === 'read-time' && inner) pending.push({ form: inner, depth: 0, quoted: false });
    else if (form.kind === 'cons') {
      seen.add(form.firstToken);
      const parts = next.isSilent
        ? [...form.elements, ...(form.tail ? [form.tail] : [])].map((part) => ({ ...next, form: part }))
        : partsToWalk({ ...next, form }, visitor);
      for (const part of parts.reverse()) pending.push(part);
    }
  }
}

function partsToWalk({ form, depth, quoted }: PendingForm, visitor: Visitor): PendingForm[] {
  const { elements: plain, tail } = spineOf(form);
  const elements = tail ? [...plain, tail] : plain;
  const data = depth > 0 || quoted;
  visitor.visit(form, elements, data);
  const inner = form.isBackquote ? depth + 1 : depth;
  const lists = quoted || inner > 0 ? new Map<Form, readonly Form[]>() : nonForms(elements);
  const parts = (visitor.within?.(elements, data) ?? elements).flatMap((each) => lists.get(each) ?? [each]);
  // Within a backquote, QUOTE is only a part of the template, in which forms after commas are evaluated all the same.
  const isQuoted = quoted || (inner === 0 && nameOf(elements[0]) === 'QUOTE');
  return [
    ...parts.map((part) => ({ form: part, depth: inner, quoted: isQuoted })),
    // Lists that are no forms come last, so that their parts are not visited twice.
    ...[...lists.keys()].map((list) => ({ form: list, depth: 0, quoted: false, isSilent: true as const })),
  ];
}
