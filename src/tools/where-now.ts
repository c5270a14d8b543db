// Finds a place of a loaded file in the file as it is now.

import type { Place } from '../image/wire/operations.ts';
import { formsNaming } from '../source/definitions.ts';
import type { Features } from '../source/form.ts';
import { type DefinitionName, formAgain, formDefining, formMentions } from '../source/form-matching.ts';
import { methodKey } from '../source/heads.ts';
import { headNameOf } from '../source/qualified.ts';
import type { TopLevelForms } from '../source/top-level.ts';
import type { Span } from '../source/tree.ts';
import { type SoughtName, type UsePosition, usePositionsIn, usesIn } from '../source/uses.ts';
import type { Source } from './sources.ts';

/** A file as it is NOW and, if known, as LOADED; both are the same object when it has not changed. FEATURES are
 *  those of the load, if they can be others than now. AGREED is true when the image has all of the present
 *  text, although it has loaded only the changed forms of it. */
export interface Versions {
  now: Source;
  loaded: Source | undefined;
  features?: Features | undefined;
  agreed?: boolean;
}

/** What is known about a form in a file that changed since it was loaded: `form` when the form itself
 *  changed, `elsewhere` when only other forms did, `unknown` otherwise. */
export type Changed = 'form' | 'elsewhere' | 'unknown';

/** Finds PLACE, which is in DEFINITION, in the current text of the file. Returns START, the index of PLACE,
 *  or undefined when uncertain. CHANGED says what changed since the file was loaded. SAME is true when the
 *  form of PLACE did not change. INSIDE is true when PLACE is somewhere in the form, and START only the start
 *  of the form. */
export function whereNow(versions: Versions, place: Place, definition: DefinitionName) {
  const { now, loaded } = versions;
  // The form of PLACE can have syntax that only the reader of the image knows, such as #+#.(...).
  if (loaded === now && place.start !== undefined) {
    const start = now.text.indexOfCharacter(place.start);
    return { now, start, changed: undefined, same: true, inside: false };
  }
  const { start, ...found } = formNow(versions, place, definition);
  const whole = place.start === undefined && !place.inside;
  if (start === undefined || !found.same || whole) return { ...found, start, inside: false };
  const at = partNow(versions, place, start);
  return { ...found, start: at ?? start, inside: at === undefined };
}

/** Returns the span of the list at PLACE in the current text; undefined when uncertain. With BEFORE, returns
 *  the span of a form instead: the one that follows the first BEFORE forms from the start of PLACE on, when
 *  it ends inside PLACE. */
export function spanNow(versions: Versions, place: Place, before?: number): Span | undefined {
  const { now, start, same, inside } = whereNow(versions, place, { name: '' });
  if (start === undefined || !same || inside) return undefined;
  const text = (versions.loaded ?? now).text;
  const end = start + text.indexOfCharacter(place.end ?? 0) - text.indexOfCharacter(place.start ?? 0);
  if (before === undefined) return { start, end };
  let form = now.forms().formFrom(start);
  for (let count = 0; count < before && form; count++) form = now.forms().formFrom(form.end);
  return form && form.end < end ? form : undefined;
}

/** Returns the index of PLACE in the current text, or undefined when unknown. The form of PLACE did not
 *  change and begins at TOP. */
function partNow({ now, loaded = now, features }: Versions, place: Place, top: number) {
  if (place.start === undefined) return undefined;
  const index = loaded.text.indexOfCharacter(place.start);
  const before = loaded === now ? top : startIn(loaded, place, features);
  return before === undefined ? undefined : index - before + top;
}

/** The top-level form of a place, found in the current text of the file. NOW is that text. START is where the
 *  form begins, undefined when uncertain. CHANGED says what changed since the file was loaded. SAME is true
 *  when the form did not change. */
interface FormNow {
  now: Source;
  start: number | undefined;
  changed: Changed | undefined;
  same: boolean;
}

/** Finds the top-level form of PLACE in the current text of the file. */
function formNow(versions: Versions, place: Place, definition: DefinitionName): FormNow {
  const { now, loaded, features, agreed } = versions;
  if (loaded === now) return { now, start: startIn(now, place, features), changed: undefined, same: true };
  if (loaded === undefined) {
    const forms = now.forms();
    const there = place.undated ? startIn(now, place) : undefined;
    if (there !== undefined && formMentions(there, definition, forms))
      return { now, start: there, changed: undefined, same: true };
    return { now, start: formDefining(definition, forms), changed: 'unknown', same: false };
  }
  // The image has the forms that the reader did not skip under the features at the time of the load.
  const before = loaded.formsUnder(features);
  const forms = now.formsUnder(features);
  const old = startIn(loaded, place, features);
  const start =
    old === undefined
      ? undefined
      : (formAgain(old, before, forms) ?? holderAgain(old, definition, before, forms));
  const same =
    start !== undefined && old !== undefined && forms.formFrom(start)?.text === before.formFrom(old)?.text;
  if (same) return { now, start, changed: agreed ? undefined : 'elsewhere', same };
  return { now, start, changed: start === undefined || old === undefined ? 'unknown' : 'form', same };
}

/** Returns the start of the top-level form of NOW around DEFINITION, such as an edited LET. Returns undefined
 *  unless this is the only form of NOW around DEFINITION, and the form at OLD is the only one of BEFORE. */
function holderAgain(old: number, definition: DefinitionName, before: TopLevelForms, now: TopLevelForms) {
  if (definition.name === '') return undefined;
  const [was, is] = [holdersOf(before, definition), holdersOf(now, definition)];
  return was.length === 1 && was[0] === old && is.length === 1 ? is[0] : undefined;
}

/** Returns the starts of those top-level forms of FORMS in which a nested form defines DEFINITION. */
function holdersOf(forms: TopLevelForms, { name, method }: DefinitionName): number[] {
  const nested = formsNaming(forms, { name: headNameOf(name) }).filter(
    (found) =>
      found.start !== found.top &&
      found.operator.startsWith('DEF') &&
      (method === undefined || found.method === methodKey(method)),
  );
  return [...new Set(nested.map(({ top }) => top))];
}

/** Finds USES, places in DEFINITION that use SOUGHT, in the current text of the file. All of them are in one
 *  top-level form and one method. Returns START, the start of that form, SPOTS, the places in it that use
 *  SOUGHT, and the other members that whereNow returns. */
export function usesNow(
  versions: Versions,
  uses: readonly Place[],
  sought: SoughtName,
  definition: DefinitionName,
) {
  const { start, ...found } = formNow(versions, uses[0] ?? {}, definition);
  const forms = found.now.forms();
  const at = uses.flatMap((use) => (start === undefined ? [] : (partNow(versions, use, start) ?? [])));
  const known = {
    at: [...new Set(at)],
    whole: uses.some((use) => use.start === undefined && !use.inside),
    inside: uses.filter(({ inside }) => inside).length,
  };
  const form = start === undefined ? undefined : forms.formFrom(start);
  const named = { ...sought, current: form && forms.packageAt(form.start) };
  const count = known.at.length + Number(known.whole) + known.inside;
  const spots =
    form && (found.same ? usePositionsIn(form, known, named) : [spotAmong(usesIn(form, named), count)]);
  return { ...found, start, spots: spots ?? [] };
}

function spotAmong(starts: readonly number[], uses: number): UsePosition {
  return { starts, sure: starts.length <= uses };
}

/** Returns the start of the top-level form of PLACE in SOURCE, read under FEATURES or else those of the image;
 *  undefined when the text does not have it. */
export function startIn(
  source: Source,
  { offset, form = -1 }: Place,
  features?: Features,
): number | undefined {
  const forms = source.formsUnder(features);
  const index = offset === undefined ? forms.nthExtent(form)?.start : source.text.indexOfOctet(offset);
  return index === undefined ? undefined : forms.formFrom(index)?.start;
}
