// Sums up scores of documents in a search, and selects the best.

/** The kind of a deleted document. */
const GONE = 255;

/** Keeps the kind (a number for its category) and the score of each document. All scores are zero between searches, and
 *  a search touches only the documents that it meets. */
export class Tally {
  /** The score of each document. */
  sums = new Float32Array(64);
  /** The ids of the documents with a score: the first COUNT elements. */
  met = new Int32Array(64);
  count = 0;
  /** The kind of each document. */
  #kinds = new Uint8Array(64);

  /** Adds the document ID of KIND, which is below 255. All scores must be zero: growing the arrays loses them. */
  add(id: number, kind: number): void {
    if (id >= this.sums.length) {
      this.sums = new Float32Array(Math.ceil(id * 1.5));
      this.met = new Int32Array(this.sums.length);
      const kinds = new Uint8Array(this.sums.length);
      kinds.set(this.#kinds);
      this.#kinds = kinds;
    }
    this.#kinds[id] = kind;
  }

  /** Deletes the document ID. */
  delete(id: number): void {
    this.#kinds[id] = GONE;
  }

  /** Returns the ids of the MOST documents with the highest scores, highest first. Of equal scores the lower id comes
   *  first. ACCEPTS filters documents. Increments COUNTS[kind] for every accepted document, also those not returned. */
  best(most: number, counts: number[], accepts?: (id: number) => boolean): number[] {
    const { sums, met, count } = this;
    const kinds = this.#kinds;
    // A min-heap of the best. Nearly all other documents score below its first.
    const heap: number[] = [];
    let least = most > 0 ? 0 : Number.POSITIVE_INFINITY;
    for (let at = 0; at < count; at++) {
      const id = met[at] as number;
      const kind = kinds[id] as number;
      if (kind === GONE || (accepts && !accepts(id))) continue;
      counts[kind] = (counts[kind] as number) + 1;
      if ((sums[id] as number) < least) continue;
      if (heap.length < most) rise(heap, id, sums);
      else if (isWorse(heap[0] as number, id, sums)) sink(heap, id, sums);
      if (heap.length === most) least = sums[heap[0] as number] as number;
    }
    return heap.sort((one, other) => (isWorse(one, other, sums) ? 1 : -1));
  }

  /** Resets all scores to zero. */
  clear(): void {
    for (let at = 0; at < this.count; at++) this.sums[this.met[at] as number] = 0;
    this.count = 0;
  }
}

/** True when ONE scores below OTHER, or the same and has the higher id. */
function isWorse(one: number, other: number, sums: Float32Array): boolean {
  const [sum, than] = [sums[one] as number, sums[other] as number];
  return sum < than || (sum === than && one > other);
}

/** Inserts ID into the min-heap HEAP. */
function rise(heap: number[], id: number, sums: Float32Array): void {
  let at = heap.push(id) - 1;
  while (at > 0) {
    const above = (at - 1) >> 1;
    const other = heap[above] as number;
    if (!isWorse(id, other, sums)) break;
    heap[at] = other;
    at = above;
  }
  heap[at] = id;
}

/** Replaces the first of the min-heap HEAP by ID. */
function sink(heap: number[], id: number, sums: Float32Array): void {
  let at = 0;
  for (let below = 1; below < heap.length; below = at * 2 + 1) {
    const next = below + 1 < heap.length && isWorse(heap[below + 1] as number, heap[below] as number, sums);
    if (next) below++;
    const other = heap[below] as number;
    if (!isWorse(other, id, sums)) break;
    heap[at] = other;
    at = below;
  }
  heap[at] = id;
}
