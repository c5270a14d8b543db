// Decides which documents a search likes most, by what it adds up for each: only those that it meets are looked at.

/** Numbers for each document. */
const SUMS = 2;

/** The kind of a document that is gone. */
const GONE = 255;

/** The documents by their kinds, and two sums for each: what a search tells of it, and which share of the request it has.
 *  All sums are zero between searches. */
export class Tally {
  /** The sums of each document, one beside the other. */
  sums = new Float32Array(64 * SUMS);
  /** The documents with sums, and how many there are. */
  met = new Int32Array(64);
  count = 0;

  /** The kind of each document. */
  #kinds = new Uint8Array(64);

  /** Adds the document ID of KIND, which is below 255. There must be no sums. */
  add(id: number, kind: number): void {
    if (id >= this.met.length) {
      this.sums = new Float32Array(id * 2 * SUMS);
      this.met = new Int32Array(id * 2);
      const kinds = new Uint8Array(id * 2);
      kinds.set(this.#kinds);
      this.#kinds = kinds;
    }
    this.#kinds[id] = kind;
  }

  /** Takes out the document ID. */
  delete(id: number): void {
    this.#kinds[id] = GONE;
  }

  /** Returns the first sum of the document ID. */
  score(id: number): number {
    return this.sums[id * SUMS] ?? 0;
  }

  /** Returns the second sum of the document ID. */
  share(id: number): number {
    return this.sums[id * SUMS + 1] ?? 0;
  }

  /** Returns the best MOST of the documents with sums that ACCEPTS lets pass, the best first, of equal ones that with the
   *  smaller number. Adds to COUNTS how many of each kind there are. */
  best(most: number, counts: number[], accepts?: (id: number) => boolean): number[] {
    const { sums, met, count } = this;
    const kinds = this.#kinds;
    const worse = (one: number, other: number) => {
      const [score, than] = [sums[one * SUMS] as number, sums[other * SUMS] as number];
      return score < than || (score === than && one > other);
    };
    // A heap, whose first is the worst of the best: nearly all others are worse than that.
    const heap: number[] = [];
    let least = most > 0 ? 0 : Number.POSITIVE_INFINITY;
    for (let at = 0; at < count; at++) {
      const id = met[at] as number;
      const kind = kinds[id] as number;
      if (kind === GONE || (accepts && !accepts(id))) continue;
      counts[kind] = (counts[kind] as number) + 1;
      if ((sums[id * SUMS] as number) < least) continue;
      if (heap.length < most) rise(heap, id, worse);
      else if (worse(heap[0] as number, id)) sink(heap, id, worse);
      if (heap.length === most) least = sums[(heap[0] as number) * SUMS] as number;
    }
    return heap.sort((one, other) => (worse(one, other) ? 1 : -1));
  }

  /** Takes all sums away. */
  clear(): void {
    const { sums, met, count } = this;
    for (let at = 0; at < count; at++) {
      const first = (met[at] as number) * SUMS;
      sums[first] = 0;
      sums[first + 1] = 0;
    }
    this.count = 0;
  }
}

type Worse = (one: number, other: number) => boolean;

/** Adds ID to HEAP, in which none is WORSE than the one above it. */
function rise(heap: number[], id: number, worse: Worse): void {
  let at = heap.push(id) - 1;
  while (at > 0) {
    const above = (at - 1) >> 1;
    const other = heap[above] as number;
    if (!worse(id, other)) break;
    heap[at] = other;
    at = above;
  }
  heap[at] = id;
}

/** Puts ID in the place of the first of HEAP, in which none is WORSE than the one above it. */
function sink(heap: number[], id: number, worse: Worse): void {
  let at = 0;
  for (let below = 1; below < heap.length; below = at * 2 + 1) {
    const next = below + 1 < heap.length && worse(heap[below + 1] as number, heap[below] as number);
    if (next) below++;
    const other = heap[below] as number;
    if (!worse(other, id)) break;
    heap[at] = other;
    at = below;
  }
  heap[at] = id;
}
