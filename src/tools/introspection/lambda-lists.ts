// Renders the lambda list of a function, from SBCL or from the source.

import type { Place } from '../../image/wire/operations.ts';
import type { Places } from '../places.ts';

/** `fromSource` is true when the lambda list was read from the source, because SBCL does not have it. */
export interface FromSource {
  fromSource?: boolean;
}

interface LambdaList extends FromSource {
  arglist?: string;
  /** The lambda list that the methods accept together, when it differs from `arglist`. */
  accepted?: string;
}

/** Returns the data with a lambda list. If the image returned none, takes it from the first of `sources` that has
 * one. */
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

/** Returns the lambda list, with a remark when it comes from the source. */
export function lambdaListText({ arglist = 'not recorded', fromSource }: LambdaList): string {
  return fromSource ? `${arglist}, from the source` : arglist;
}

/** Returns a line with the lambda list that the methods accept; false when it equals that of the generic function. */
export function acceptedText({ accepted }: LambdaList): string | false {
  return accepted !== undefined && `Accepted by some method: ${accepted}`;
}
