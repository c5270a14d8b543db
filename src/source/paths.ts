/** Decides where the parts of a form are that SBCL names by paths: which element, which one of that, and so on. */

import { elementsOf, type Features, type Form, newReader, readForm, readTopLevel } from './form.ts';

/** A part of a text, from index START up to END. */
export interface Span {
  start: number;
  end: number;
}

/** Returns where the parts at PATHS are of the form at index START of SOURCE, under FEATURES, in the order of the text.
 *  Those within others are left out, and those that the text does not have. */
export function spansOf(
  source: string,
  start: number,
  paths: readonly (readonly number[])[],
  features: Features,
): Span[] {
  const form = readForm(source, start, features);
  const spans = paths.flatMap((path) => {
    const part = partAt(form, path);
    return part === undefined ? [] : [{ start: part.start, end: endOf(source, part.start, features) }];
  });
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

function endOf(source: string, start: number, features: Features): number {
  const reader = newReader(source, start, features);
  readTopLevel(reader);
  return reader.at;
}
