// Renders a function's lambda list, from SBCL or the source, and the further parameters that its methods
// accept.

import type { Place } from '../../image/wire/operations.ts';
import type { Places } from '../places.ts';

/** True when the lambda list was read from the source, because SBCL has none. */
export interface FromSource {
  fromSource?: boolean;
}

interface LambdaList extends FromSource {
  arglist?: string;
  /** The lambda list that all methods together accept, when it differs from ARGLIST. */
  accepted?: string;
}

/** Returns DATA without SOURCES. A missing lambda list is taken from the first of SOURCES that has one. */
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

/** Returns a line with the lambda list that methods accept; false when it is the generic function's. */
export function acceptedText({ accepted }: LambdaList): string | false {
  return accepted !== undefined && `Accepted by some method: ${accepted}`;
}
