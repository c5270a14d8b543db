// Sums up scores of documents in a search, and selects the best.

/** The kind of a deleted document. */
const GONE = 255;

/** Keeps the kind (a number for its category) and the score of each document. All scores are zero between searches, and
 *  a search touches only the documents that it meets. */
export class Tally {
  /** The score of each document. */
  sums = new Float32Array(64);
  /** The ids of the documents with a score: the first COUNT elements. */
  touched = new Int32Array(64);
  count = 0;
  /** The kind of each document. */
  #kinds = new Uint8Array(64);

  /** Adds the document ID of KIND, which is below 255. All scores must be zero: growing the arrays loses them. */
  add(id: number, kind: number): void {
    if (id >= this.sums.length) {
      this.sums = new Float32Array(Math.ceil(id * 1.5));
      this.touched = new Int32Array(this.sums.length);
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
    const { sums, touched, count } = this;
    const ids: number[] = [];
    for (let at = 0; at < count; at++) {
      const id = touched[at] as number;
      const kind = this.#kinds[id] as number;
      if (kind === GONE || (accepts && !accepts(id))) continue;
      counts[kind] = (counts[kind] as number) + 1;
      ids.push(id);
    }
    ids.sort((one, other) => (sums[other] as number) - (sums[one] as number) || one - other);
    return ids.slice(0, most);
  }

  /** Resets all scores to zero. */
  clear(): void {
    for (let at = 0; at < this.count; at++) this.sums[this.touched[at] as number] = 0;
    this.count = 0;
  }
}
