// Renders the lambda list of a function as SBCL recorded it, else as the source has it, and what the methods
// of a generic function accept in addition.

import type { Place } from '../../image/wire/data.ts';
import type { Places } from '../places.ts';

/** True when the lambda list was read from the source, because SBCL has none. */
export interface FromSource {
  fromSource?: boolean;
}

interface LambdaList extends FromSource {
  arglist?: string;
  /** The lambda list that all methods of the generic function accept together, when it differs from
   *  ARGLIST. */
  accepted?: string;
}

/** Returns DATA without SOURCES. If DATA lacks a lambda list, it is taken from the first of SOURCES that
 *  defines NAME with one. */
export function withLambdaList<Data extends LambdaList & { sources?: Place[] | undefined }>(
  { sources = [], ...data }: Data,
  places: Places,
  name: string,
): Omit<Data, 'sources'> & FromSource {
  if (data.arglist !== undefined) return data;
  for (const source of sources) {
    const arglist = places.lambdaList(source, name);
    if (arglist !== undefined) return { ...data, arglist, fromSource: true };
  }
  return data;
}

/** Returns the lambda list of DATA, and says so if it is from the source. */
export function lambdaListText({ arglist = 'not recorded', fromSource }: LambdaList): string {
  return fromSource ? `${arglist}, from the source` : arglist;
}

/** Returns a line with the lambda list that the methods accept; false when it does not differ from the
 *  generic function's. */
export function acceptedText({ accepted }: LambdaList): string | false {
  return accepted !== undefined && `Accepted by some method: ${accepted}`;
}
