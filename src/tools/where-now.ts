// Finds, in the current text of a file, the place of code that the image has loaded from it: first its top-level form,
// then the place in this form, which is known only if the text of the form has not changed. A Place is in the loaded
// text: its `offset` counts octets, and its `start` and `end` count characters. Other indexes here count UTF-16 units.

import type { Place } from '../image/wire/operations.ts';
import { isDefiner, methodKey } from '../source/definition.ts';
import { formsNaming } from '../source/definitions.ts';
import type { Features } from '../source/form.ts';
import {
  type DefinitionName,
  formAgain,
  formDefining,
  formInOrder,
  formMentions,
} from '../source/form-matching.ts';
import { definitionNameOf } from '../source/qualified.ts';
import type { TopLevelForms } from '../source/top-level.ts';
import type { Span } from '../source/tree.ts';
import { type SoughtName, type UsePosition, usePositionsIn, usesIn } from '../source/uses.ts';
import type { Source } from './sources.ts';

/** The current version of a file, and the version that the image has loaded. */
export interface Versions {
  now: Source;
  /** The loaded version. Undefined when it is unknown; the same object as `now` when the file has not changed. */
  loaded: Source | undefined;
  /** The features at the time of the load; absent when the current ones give the same forms. */
  features?: Features | undefined;
  /** True when the forms of `now` that differ from `loaded` were also loaded, one by one, after `loaded`. */
  changesLoaded?: boolean;
}

/** How a form of a changed file differs from its loaded version. `form`: the form itself has changed. `elsewhere`: only
 * other forms have changed. `unknown`: the difference cannot be determined. */
export type Changed = 'form' | 'elsewhere' | 'unknown';

/** The top-level form of a place, in the current text of the file. */
export interface FormNow {
  now: Source;
  /** The index at which the form begins; undefined when it is uncertain. */
  start: number | undefined;
  /** The change of the file since the image loaded it; undefined when it has not changed. */
  changed: Changed | undefined;
  /** True when the form itself has not changed. */
  same: boolean;
}

/** A place in the current text of the file. `start` is its index. If `inside` is true, only the top-level form is
 * known, and `start` is the index at which this form begins. */
interface PlaceNow extends FormNow {
  inside: boolean;
}

/** Returns the place in the current text of the file that corresponds to PLACE, a place in DEFINITION in the loaded
 * text. The name of DEFINITION is '' when it is unknown. */
export function placeNow(versions: Versions, place: Place, definition: DefinitionName): PlaceNow {
  const { now, loaded } = versions;
  // Do not parse the text here: the form can contain syntax that only the image can read, such as #+#.(...).
  if (loaded === now && place.start !== undefined)
    return { ...formAt(now, now.text.indexOfCharacter(place.start), undefined), inside: false };
  const form = formNow(versions, place, definition);
  if (form.start === undefined || !form.same || isWholeForm(place)) return { ...form, inside: false };
  const start = indexNow(versions, place, form.start);
  return { ...form, start: start ?? form.start, inside: start === undefined };
}

/** Returns the range of the list at PLACE in the current text; undefined when it is uncertain. For an atom, BEFORE is
 * given: returns the range of the form that comes after BEFORE other forms from the start of PLACE (see PartPlace). */
export function spanNow(versions: Versions, place: Place, before?: number): Span | undefined {
  const { now, start, same, inside } = placeNow(versions, place, { name: '' });
  if (start === undefined || !same || inside) return undefined;
  // The form has not changed, so the list in it is as long as in the loaded version.
  const { text } = versions.loaded ?? now;
  const length = text.indexOfCharacter(place.end ?? 0) - text.indexOfCharacter(place.start ?? 0);
  const end = start + length;
  if (before === undefined) return { start, end };
  let form = now.forms().formFrom(start);
  for (let count = 0; count < before && form; count++) form = now.forms().formFrom(form.end);
  return form && form.end < end ? form : undefined;
}

/** Finds the uses of SOUGHT in the current text of a file. USES are their places, all in one top-level form of
 * DEFINITION, in the text that the image has loaded. `spots` of the result are the uses in the current form. */
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
  const recorded = {
    at: [...new Set(uses.flatMap((use) => indexNow(versions, use, start) ?? []))],
    whole: uses.some(isWholeForm),
    inside: uses.filter(({ inside }) => inside).length,
  };
  if (same) return { ...found, spots: usePositionsIn(form, recorded, named) };
  // The form has changed, so the recorded places are wrong. Only their number can be used.
  const starts = usesIn(form, named);
  const count = recorded.at.length + Number(recorded.whole) + recorded.inside;
  return { ...found, spots: [{ starts, sure: starts.length <= count }] };
}

function isWholeForm(place: Place): boolean {
  return place.start === undefined && !place.inside;
}

function formNow(versions: Versions, place: Place, definition: DefinitionName): FormNow {
  const { now, loaded, features } = versions;
  if (loaded === now) return formAt(now, startIn(now, place, features), undefined);
  if (loaded !== undefined) return formInOtherVersion(versions, loaded, place, definition);
  // The loaded version is unknown. If PLACE is undated, that version may or may not be the current one. So accept the
  // form at PLACE only if it mentions the definition. In all other cases, search the current text for the definition.
  const forms = now.forms();
  const start = place.undated ? startIn(now, place) : undefined;
  return start !== undefined && formMentions(start, definition, forms)
    ? formAt(now, start, undefined)
    : formAt(now, formDefining(definition, forms), 'unknown');
}

/** Finds the top-level form of PLACE in the current text of a file that has changed since it was loaded. LOADED is the
 * loaded version. */
function formInOtherVersion(
  { now, features, changesLoaded }: Versions,
  loaded: Source,
  place: Place,
  definition: DefinitionName,
): FormNow {
  // The image has only those forms that the reader did not skip with the features at the time of the load.
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

/** Returns the index of PLACE in the current text; undefined when it is unknown. The text of its top-level form must be
 * as it was when the form was loaded. TOP is the index at which this form begins now. */
function indexNow({ now, loaded = now, features }: Versions, place: Place, top: number): number | undefined {
  if (place.start === undefined) return undefined;
  const index = loaded.text.indexOfCharacter(place.start);
  const oldTop = loaded === now ? top : startIn(loaded, place, features);
  return oldTop === undefined ? undefined : index - oldTop + top;
}

/** The top-level form at the index OLD of BEFORE has DEFINITION in a form inside it, as a LET around a DEFUN does.
 * Returns the index of the corresponding form of NOW; undefined when there is none. If several forms contain
 * DEFINITION, only their order distinguishes them. */
function formAround(
  definition: DefinitionName,
  old: number,
  before: TopLevelForms,
  now: TopLevelForms,
): number | undefined {
  if (definition.name === '') return undefined;
  const [oldStarts, newStarts] = [formsAround(definition, before), formsAround(definition, now)];
  const [only, ...others] = oldStarts;
  if (only === old && others.length === 0 && newStarts.length === 1) return newStarts[0];
  return formInOrder(old, before, now, oldStarts, newStarts);
}

/** Returns the start indexes of the top-level forms that have the definition in a form inside them. */
function formsAround({ name, method }: DefinitionName, forms: TopLevelForms): number[] {
  const nested = formsNaming(forms, { name: definitionNameOf(name) }).filter(
    (found) =>
      found.start !== found.top &&
      isDefiner(found.operator) &&
      (method === undefined || found.method === methodKey(method)),
  );
  return [...new Set(nested.map(({ top }) => top))];
}

/** Returns the index at which the top-level form of a place in SOURCE begins; undefined when there is none. FEATURES
 * are by default those of the image. */
export function startIn(
  source: Source,
  { offset, form = -1 }: Place,
  features?: Features,
): number | undefined {
  const forms = source.formsUnder(features);
  const index = offset === undefined ? forms.nthExtent(form)?.start : source.text.indexOfOctet(offset);
  return index === undefined ? undefined : forms.formFrom(index)?.start;
}
