// Finds the place of loaded code in the current text of its file.

import type { Place } from '../image/wire/operations.ts';
import { isDefiner, methodKey } from '../source/definition.ts';
import { formsNaming } from '../source/definitions.ts';
import type { Features } from '../source/form.ts';
import { type DefinitionName, formAgain, formDefining, formMentions } from '../source/form-matching.ts';
import { definitionNameOf } from '../source/qualified.ts';
import type { TopLevelForms } from '../source/top-level.ts';
import type { Span } from '../source/tree.ts';
import { type SoughtName, type UsePosition, usePositionsIn, usesIn } from '../source/uses.ts';
import type { Source } from './sources.ts';

/** The present version of a file, and the version that the image loaded. */
export interface Versions {
  now: Source;
  /** The loaded version: undefined when it is unknown, and `now` itself when the file did not change. */
  loaded: Source | undefined;
  /** The features at the load; absent when the present ones give the same forms. */
  features?: Features | undefined;
  /** True when the forms that differ in `now` were loaded too, one by one, after `loaded`. */
  changesLoaded?: boolean;
}

/** How a form in a changed file differs from its loaded version. `form`: the form itself changed.
 * `elsewhere`: only other forms did. `unknown`: it cannot be determined. */
export type Changed = 'form' | 'elsewhere' | 'unknown';

/** The top-level form of a place in the current text of the file. */
export interface FormNow {
  now: Source;
  /** The start index of the form; undefined when uncertain. */
  start: number | undefined;
  /** How the file changed since it was loaded; undefined when it did not. */
  changed: Changed | undefined;
  /** True when the form itself did not change. */
  same: boolean;
}

/** A place in the current text of the file. `start` is its index. When `inside` is true, `start` is the index
 * of its top-level form, and the exact index is unknown. */
interface PlaceNow extends FormNow {
  inside: boolean;
}

/** Finds PLACE, which belongs to DEFINITION, in the current text of the file. */
export function placeNow(versions: Versions, place: Place, definition: DefinitionName): PlaceNow {
  const { now, loaded } = versions;
  // The form of PLACE can have syntax that only the image can read, such as #+#.(...).
  if (loaded === now && place.start !== undefined)
    return { ...formAt(now, now.text.indexOfCharacter(place.start), undefined), inside: false };
  const form = formNow(versions, place, definition);
  if (form.start === undefined || !form.same || isWholeForm(place)) return { ...form, inside: false };
  const start = indexNow(versions, place, form.start);
  return { ...form, start: start ?? form.start, inside: start === undefined };
}

/** Returns the span of the list at PLACE in the current text; undefined when uncertain. With BEFORE, skips
 * that number of forms and returns the span of the next form in the list. */
export function spanNow(versions: Versions, place: Place, before?: number): Span | undefined {
  const { now, start, same, inside } = placeNow(versions, place, { name: '' });
  if (start === undefined || !same || inside) return undefined;
  // The form did not change, so the list in it is as long as in the loaded version.
  const { text } = versions.loaded ?? now;
  const length = text.indexOfCharacter(place.end ?? 0) - text.indexOfCharacter(place.start ?? 0);
  const end = start + length;
  if (before === undefined) return { start, end };
  let form = now.forms().formFrom(start);
  for (let count = 0; count < before && form; count++) form = now.forms().formFrom(form.end);
  return form && form.end < end ? form : undefined;
}

/** Finds USES in the current text of the file: places in one top-level form of DEFINITION that use SOUGHT.
 * `spots` are the uses of SOUGHT in that form. */
export function usesNow(
  versions: Versions,
  uses: readonly Place[],
  sought: SoughtName,
  definition: DefinitionName,
): FormNow & { spots: UsePosition[] } {
  const found = formNow(versions, uses[0] ?? {}, definition);
  const { now, start, same } = found;
  const form = start === undefined ? undefined : now.forms().formFrom(start);
  if (start === undefined || form === undefined) return { ...found, spots: [] };
  const named = { ...sought, current: now.forms().packageAt(form.start) };
  const known = {
    at: [...new Set(uses.flatMap((use) => indexNow(versions, use, start) ?? []))],
    whole: uses.some(isWholeForm),
    inside: uses.filter(({ inside }) => inside).length,
  };
  if (same) return { ...found, spots: usePositionsIn(form, known, named) };
  // The recorded places are those in the old form, so only their number is usable.
  const starts = usesIn(form, named);
  const count = known.at.length + Number(known.whole) + known.inside;
  return { ...found, spots: [{ starts, sure: starts.length <= count }] };
}

function isWholeForm(place: Place): boolean {
  return place.start === undefined && !place.inside;
}

function formNow(versions: Versions, place: Place, definition: DefinitionName): FormNow {
  const { now, loaded, features } = versions;
  if (loaded === now) return formAt(now, startIn(now, place, features), undefined);
  if (loaded !== undefined) return formInOtherVersion(versions, loaded, place, definition);
  // Without the loaded version, only a form that has the definition can be the form of PLACE.
  const forms = now.forms();
  const start = place.undated ? startIn(now, place) : undefined;
  return start !== undefined && formMentions(start, definition, forms)
    ? formAt(now, start, undefined)
    : formAt(now, formDefining(definition, forms), 'unknown');
}

/** Finds the top-level form of PLACE in the current text, which differs from the loaded one. */
function formInOtherVersion(
  { now, features, changesLoaded }: Versions,
  loaded: Source,
  place: Place,
  definition: DefinitionName,
): FormNow {
  // The image has only the forms that the reader did not skip under the features at the load.
  const [oldForms, newForms] = [loaded.formsUnder(features), now.formsUnder(features)];
  const old = startIn(loaded, place, features);
  if (old === undefined) return formAt(now, undefined, 'unknown');
  const start = formAgain(old, oldForms, newForms) ?? formAround(definition, old, oldForms, newForms);
  if (start === undefined) return formAt(now, undefined, 'unknown');
  const same = newForms.formFrom(start)?.text === oldForms.formFrom(old)?.text;
  if (!same) return formAt(now, start, 'form');
  return formAt(now, start, changesLoaded ? undefined : 'elsewhere');
}

function formAt(now: Source, start: number | undefined, changed: Changed | undefined): FormNow {
  return { now, start, changed, same: changed === undefined || changed === 'elsewhere' };
}

/** Returns the index of PLACE in the current text; undefined when unknown. Its top-level form did not change
 * and begins at TOP. */
function indexNow({ now, loaded = now, features }: Versions, place: Place, top: number): number | undefined {
  if (place.start === undefined) return undefined;
  const index = loaded.text.indexOfCharacter(place.start);
  const oldTop = loaded === now ? top : startIn(loaded, place, features);
  return oldTop === undefined ? undefined : index - oldTop + top;
}

/** Returns the start of the only top-level form in NOW that contains DEFINITION, such as an edited LET.
 * Returns undefined unless the form at OLD is the only one in BEFORE. */
function formAround(
  definition: DefinitionName,
  old: number,
  before: TopLevelForms,
  now: TopLevelForms,
): number | undefined {
  if (definition.name === '') return undefined;
  const [was, is] = [formsAround(definition, before), formsAround(definition, now)];
  return was.length === 1 && was[0] === old && is.length === 1 ? is[0] : undefined;
}

/** Returns the starts of the top-level forms that contain the definition in a nested form. */
function formsAround({ name, method }: DefinitionName, forms: TopLevelForms): number[] {
  const nested = formsNaming(forms, { name: definitionNameOf(name) }).filter(
    (found) =>
      found.start !== found.top &&
      isDefiner(found.operator) &&
      (method === undefined || found.method === methodKey(method)),
  );
  return [...new Set(nested.map(({ top }) => top))];
}

/** Returns the start of the top-level form of a place in SOURCE; undefined when there is none. FEATURES
 * default to those of the image. */
export function startIn(
  source: Source,
  { offset, form = -1 }: Place,
  features?: Features,
): number | undefined {
  const forms = source.formsUnder(features);
  const index = offset === undefined ? forms.nthExtent(form)?.start : source.text.indexOfOctet(offset);
  return index === undefined ? undefined : forms.formFrom(index)?.start;
}
