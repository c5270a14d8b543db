// Decides which documents a search likes most, by what it adds up for each.

/** The kind of a document that is gone. */
const GONE = 255;

/** The documents by their kinds, and a sum for each, which is zero between searches. Only those that a search meets are
 *  looked at. */
export class Tally {
  /** The sum of each document. */
  sums = new Float32Array(64);
  /** The documents with sums, and how many there are. */
  met = new Int32Array(64);
  count = 0;
  /** The kind of each document. */
  #kinds = new Uint8Array(64);

  /** Adds the document ID of KIND, which is below 255. There must be no sums. */
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

  /** Takes out the document ID. */
  delete(id: number): void {
    this.#kinds[id] = GONE;
  }

  /** Returns the best MOST of the documents with sums that ACCEPTS lets pass, the best first, of equal ones that with the
   *  smaller number. Adds to COUNTS how many of each kind there are. */
  best(most: number, counts: number[], accepts?: (id: number) => boolean): number[] {
    const { sums, met, count } = this;
    const kinds = this.#kinds;
    // A heap, whose first is the worst of the best. Nearly all others are worse than that.
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

  /** Takes all sums away. */
  clear(): void {
    for (let at = 0; at < this.count; at++) this.sums[this.met[at] as number] = 0;
    this.count = 0;
  }
}

/** Returns whether SUMS has less for ONE than for OTHER, or as much and ONE is the larger number. */
function isWorse(one: number, other: number, sums: Float32Array): boolean {
  const [sum, than] = [sums[one] as number, sums[other] as number];
  return sum < than || (sum === than && one > other);
}

/** Adds ID to HEAP, in which none is worse than the one above it. */
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

/** Puts ID in the place of the first of HEAP, in which none is worse than the one above it. */
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
