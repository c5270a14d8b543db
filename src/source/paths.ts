/** Locates the parts of a form that SBCL identifies by paths: the index of an element, the index of an element in that
 *  element, and so on. */

import { elementsOf, type Features, type Form, readForm } from './form.ts';
import type { Span } from './tree.ts';

/** Returns the spans of the parts at PATHS of the form at index START of SOURCE, under FEATURES, in text order. Leaves
 *  out parts within other parts, and paths that lead nowhere in the text. */
export function spansOf(
  source: string,
  start: number,
  paths: readonly (readonly number[])[],
  features: Features,
): Span[] {
  const form = readForm(source, start, features);
  const spans = paths.flatMap((path) => partAt(form, path) ?? []);
  spans.sort((one, other) => one.start - other.start || other.end - one.end);
  let end = 0;
  return spans.filter((span) => {
    if (span.start < end) return false;
    end = span.end;
    return true;
  });
}

function partAt(form: Form | undefined, path: readonly number[]): Form | undefined {
  return path.reduce<Form | undefined>((part, index) => elementsOf(part)[index], form);
}
