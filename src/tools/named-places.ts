// Collects the source places and file names that an answer of the image contains.

import type { Place } from '../image/wire/operations.ts';

/** Adds all places in ANSWER to PLACES, and returns PLACES. A place is an object, at any depth, with a member `file`,
 * or a file name in a member `files` or `testFiles`. */
export function namedPlaces(answer: object, places: Place[] = []): Place[] {
  if ('file' in answer && typeof answer.file === 'string') {
    const mark = 'mark' in answer && typeof answer.mark === 'string' ? answer.mark : undefined;
    places.push({ file: answer.file, ...(mark !== undefined && { mark }) });
  }
  for (const [name, value] of Object.entries(answer)) {
    if (Array.isArray(value)) {
      const [first] = value;
      if (typeof first !== 'string') namedPlaces(value, places);
      else if (name === 'files' || name === 'testFiles') places.push(...value.map((file) => ({ file })));
    } else if (typeof value === 'object' && value !== null) namedPlaces(value, places);
  }
  return places;
}
