// Decides where a place is in a file that can have changed since it was loaded.

import type { Place } from '../image/wire/data.ts';
import { type Definition, formAgain, formDefining, isNamed } from '../source/again.ts';
import type { NumberedName } from '../source/numbering.ts';
import type { Spot } from '../source/position.ts';
import type { Used } from '../source/uses.ts';
import type { Source } from './sources.ts';

type Features = ReadonlySet<string>;

/** A file as it is, and as it was loaded when that is known; they are one when it has not changed. */
export interface Versions {
  now: Source;
  loaded: Source | undefined;
}

/** Returns where PLACE, in DEFINITION, is NOW; START is undefined when that is not certain. CHANGED says whether the file
 *  is another since it was loaded, and SAME whether the form of PLACE is not. It is INSIDE that form when only this is known. */
export function whereNow(versions: Versions, place: Place, features: Features, definition: Definition) {
  const { start, ...found } = formNow(versions, place, features, definition);
  const { number = 0 } = place;
  if (start === undefined || !found.same || number === 0 || versions.loaded === undefined)
    return { ...found, start, inside: false };
  const at = isReadAlike(versions, place, features)
    ? found.now.forms(features).numbered(start, number, () => toldIn([place]))
    : undefined;
  return { ...found, start: at ?? start, inside: at === undefined };
}

/** Returns where the top-level form of PLACE is, as WHERENOW does. */
function formNow({ now, loaded }: Versions, place: Place, features: Features, definition: Definition) {
  if (loaded === now) return { now, start: startIn(now, place, features), changed: false, same: true };
  const forms = now.forms(features);
  if (loaded === undefined) {
    const there = place.undated ? startIn(now, place, features) : undefined;
    if (there !== undefined && isNamed(there, definition, forms))
      return { now, start: there, changed: false, same: true };
    return { now, start: formDefining(definition, forms), changed: true, same: false };
  }
  const before = loaded.forms(features);
  const old = startIn(loaded, place, features);
  const start = old === undefined ? undefined : formAgain(old, before, forms);
  const same = start !== undefined && old !== undefined && forms.textAt(start) === before.textAt(old);
  return { now, start, changed: !(now.agreed && same), same };
}

/** Returns where the form in DEFINITION is NOW that has USES, all of one form and method, as WHERENOW does. Its SPOTS are where
 *  those uses of USED are. */
export function usesNow(
  versions: Versions,
  uses: readonly Place[],
  features: Features,
  used: Used,
  definition: Definition,
) {
  const place = { ...uses[0], number: 0 };
  const found = whereNow(versions, place, features, definition);
  const { start, now, same } = found;
  const numbers = [...new Set(uses.map(({ number = 0 }) => number))];
  const forms = now.forms(features);
  const spots =
    start === undefined
      ? []
      : !same
        ? [spotAmong(forms.uses(start, used), numbers.length)]
        : isReadAlike(versions, place, features)
          ? forms.spots(start, numbers, used, () => toldIn(uses))
          : [spotAmong([], numbers.length)];
  return { ...found, spots };
}

function spotAmong(starts: readonly number[], uses: number): Spot {
  return { starts, sure: starts.length <= uses };
}

/** Returns the numbers of other names that are told with USES. */
function toldIn(uses: readonly Place[]): NumberedName[] {
  const { numbers = [] } = uses.find((use) => use.numbers !== undefined) ?? {};
  return numbers.flatMap((name, index) => {
    const number = numbers[index + 1];
    return typeof name === 'string' && typeof number === 'number' ? { name, number } : [];
  });
}

/** Returns where the top-level form of PLACE begins in SOURCE; undefined when it is not in the text. */
export function startIn(
  source: Source,
  { offset, form = -1 }: Place,
  features: Features,
): number | undefined {
  const forms = source.forms(features);
  const index = offset === undefined ? forms.start(form) : source.text.indexOfOctet(offset);
  return index === undefined ? undefined : forms.formStart(index, 0);
}

/** Tells whether the form of PLACE ends in the text where SBCL found its end, as far as that is known. Else a reader macro has
 *  read it another way, and what stands in it is not known. */
function isReadAlike({ now, loaded = now }: Versions, place: Place, features: Features): boolean {
  const start = startIn(loaded, place, features);
  if (start === undefined || place.end === undefined) return true;
  return loaded.forms(features).endsBefore(start, loaded.text.indexOfOctet(place.end));
}
