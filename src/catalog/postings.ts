// The posting lists of a search index: which documents have which terms.

import type { Tally } from './tally.ts';

/** The documents that have a term, by ascending numbers, and its weights in them. */
interface PostingList {
  ids: number[];
  values: number[];
}

/** Posting lists by term number. Nothing is deleted: callers skip the numbers of deleted documents. */
export class Postings {
  readonly #lists: PostingList[] = [];

  /** Adds a posting: TERM has weight VALUE in the document ID, which no earlier posting of TERM reaches. */
  add(term: number, id: number, value: number): void {
    this.#lists[term] ??= { ids: [], values: [] };
    const { ids, values } = this.#lists[term];
    ids.push(id);
    values.push(Math.fround(value));
  }

  /** Returns the numbers of the documents that have TERM. */
  holders(term: number): readonly number[] {
    return this.#lists[term]?.ids ?? [];
  }

  /** Returns those of IDS whose documents have TERM. Calls VISIT with each, and the weight of TERM in it. */
  intersect(term: number, ids: readonly number[], visit?: (id: number, value: number) => void): number[] {
    const { ids: listed, values } = this.#lists[term] ?? { ids: [], values: [] };
    return ids.filter((id) => {
      const at = lowerBound(listed, id);
      if (listed[at] !== id) return false;
      visit?.(id, values[at] as number);
      return true;
    });
  }

  /** Adds WEIGHT times each posting of TERM to the sums of TALLY. */
  accumulate(term: number, weight: number, tally: Tally): void {
    const list = this.#lists[term];
    if (list === undefined) return;
    const { ids, values } = list;
    const { sums, touched } = tally;
    let { count } = tally;
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] as number;
      const sum = sums[id] as number;
      if (sum === 0) touched[count++] = id;
      sums[id] = sum + weight * (values[at] as number);
    }
    tally.count = count;
  }
}

/** Returns the index of the first of NUMBERS, which ascend, that is at least LEAST; their length if none is. */
function lowerBound(numbers: readonly number[], least: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
