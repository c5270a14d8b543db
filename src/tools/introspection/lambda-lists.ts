// Decides how lambda lists read: those that SBCL keeps, those of its source only, and those of generic functions.

import type { Place } from '../../image/wire/data.ts';
import type { Places } from '../places.ts';

/** Whether a lambda list was read from the source, because SBCL keeps none. */
export interface FromSource {
  fromSource?: boolean;
}

interface LambdaList extends FromSource {
  arglist?: string;
  /** What the methods of a generic function accept, when that differs. */
  accepted?: string;
}

/** Returns DATA of NAME, with the lambda list from one of its sources when it has none; without SOURCES otherwise. */
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

/** Returns the lambda list of DATA, and that it is from the source when it is. */
export function lambdaListText({ arglist = 'not recorded', fromSource }: LambdaList): string {
  return fromSource ? `${arglist}, from the source` : arglist;
}

/** Returns the line that tells what the methods of DATA accept, or false when that is its lambda list. */
export function acceptedText({ accepted }: LambdaList): string | false {
  return accepted !== undefined && `Accepted by some method: ${accepted}`;
}
