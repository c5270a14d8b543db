// Collects the source places and file names in an answer of the image.

import type { Place } from '../image/wire/operations.ts';

/** Appends to PLACES each object with a member `file` at any depth of the answer TOLD, and each name in
 * `files` and `testFiles`. Returns PLACES. */
export function namedPlaces(told: object, places: Place[] = []): Place[] {
  if ('file' in told && typeof told.file === 'string') {
    const mark = 'mark' in told && typeof told.mark === 'string' ? told.mark : undefined;
    places.push({ file: told.file, ...(mark !== undefined && { mark }) });
  }
  for (const [name, value] of Object.entries(told)) {
    if (Array.isArray(value)) {
      const [first] = value;
      if (typeof first !== 'string') namedPlaces(value, places);
      else if (name === 'files' || name === 'testFiles') places.push(...value.map((file) => ({ file })));
    } else if (typeof value === 'object' && value !== null) namedPlaces(value, places);
  }
  return places;
}
