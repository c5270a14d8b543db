// Decides where a place is in a file that can have changed since it was loaded.

import type { Place } from '../image/wire/data.ts';
import { type Definition, formAgain, formDefining, isNamed } from '../source/again.ts';
import type { Spot } from '../source/position.ts';
import type { Used } from '../source/uses.ts';
import type { Source } from './sources.ts';

/** A file as it is, and as it was loaded when that is known; they are one when it has not changed. */
export interface Versions {
  now: Source;
  loaded: Source | undefined;
}

/** Returns where PLACE, in DEFINITION, is NOW; START is undefined when that is not certain. CHANGED says whether the file
 *  is another since it was loaded, and SAME whether the form of PLACE is not. It is INSIDE that form when only this is known. */
export function whereNow(versions: Versions, place: Place, definition: Definition) {
  const { start, ...found } = formNow(versions, place, definition);
  const whole = place.start === undefined && !place.inside;
  if (start === undefined || !found.same || whole) return { ...found, start, inside: false };
  const at = partNow(versions, place, start);
  return { ...found, start: at ?? start, inside: at === undefined };
}

/** Returns where the list of PLACE is now, whose form is the same and begins at TOP; undefined when that is not known. */
function partNow({ now, loaded = now }: Versions, place: Place, top: number) {
  if (place.start === undefined) return undefined;
  const index = loaded.text.indexOfCharacter(place.start);
  const before = loaded === now ? top : startIn(loaded, place);
  return before === undefined ? undefined : index - before + top;
}

/** Returns where the top-level form of PLACE is, as WHERENOW does. */
function formNow({ now, loaded }: Versions, place: Place, definition: Definition) {
  if (loaded === now) return { now, start: startIn(now, place), changed: false, same: true };
  if (loaded === undefined) {
    const forms = now.forms();
    const there = place.undated ? startIn(now, place) : undefined;
    if (there !== undefined && isNamed(there, definition, forms))
      return { now, start: there, changed: false, same: true };
    return { now, start: formDefining(definition, forms), changed: true, same: false };
  }
  // The image has what the reader let through under the features of then.
  const before = loaded.formsUnder(loaded.loadedUnder);
  const forms = now.formsUnder(loaded.loadedUnder);
  const old = startIn(loaded, place);
  const start = old === undefined ? undefined : formAgain(old, before, forms);
  const same = start !== undefined && old !== undefined && forms.textAt(start) === before.textAt(old);
  return { now, start, changed: !(now.agreed && same), same };
}

/** Returns where the form in DEFINITION is NOW that has USES, all of one form and method, as WHERENOW does. Its SPOTS are where
 *  those uses of USED are. */
export function usesNow(versions: Versions, uses: readonly Place[], used: Used, definition: Definition) {
  const { start, ...found } = formNow(versions, uses[0] ?? {}, definition);
  const forms = found.now.forms();
  const at = uses.flatMap((use) => (start === undefined ? [] : (partNow(versions, use, start) ?? [])));
  const known = {
    at: [...new Set(at)],
    whole: uses.some((use) => use.start === undefined && !use.inside),
    inside: uses.filter(({ inside }) => inside).length,
  };
  const spots =
    start === undefined
      ? []
      : found.same
        ? forms.spots(start, known, used)
        : [spotAmong(forms.uses(start, used), known.at.length + Number(known.whole) + known.inside)];
  return { ...found, start, spots };
}

function spotAmong(starts: readonly number[], uses: number): Spot {
  return { starts, sure: starts.length <= uses };
}

/** Returns where the top-level form of PLACE begins in SOURCE; undefined when it is not in the text. */
export function startIn(source: Source, { offset, form = -1 }: Place): number | undefined {
  const forms = source.formsUnder(source.loadedUnder);
  const index = offset === undefined ? forms.start(form) : source.text.indexOfOctet(offset);
  return index === undefined ? undefined : forms.formStart(index);
}
