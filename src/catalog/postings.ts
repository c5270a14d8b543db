// The posting lists of a search index: which documents have which terms, as chains of blocks in typed arrays.

import type { Tally } from './tally.ts';

/** A typed array that grows. */
type Numbers = Int32Array | Float32Array;

/** Capacity of a term's first block, and of its largest, in postings: most terms are rare. */
const FIRST_BLOCK = 2;
const LARGEST_BLOCK = 256;

/** Length of a block's head: the index of the next block, or 0, and the capacity in postings. */
const HEAD = 2;

/** Posting lists by term number. Nothing is deleted: callers skip the numbers of deleted documents. */
export class Postings {
  /** Blocks: heads and document numbers. Index 0 is unused. */
  #ids = new Int32Array(1024);
  /** The weights of the postings, at the same indices. */
  #values = new Float32Array(1024);
  #used = 1;
  /** By term: the indices of its first and last block, and the number of postings in the last one. */
  #first = new Int32Array(256);
  #last = new Int32Array(256);
  #filled = new Int32Array(256);

  /** Adds a posting: TERM has weight VALUE in the document ID. */
  add(term: number, id: number, value: number): void {
    if (term >= this.#first.length) this.#growTerms(term + 1);
    let block = this.#last[term] ?? 0;
    const room = block === 0 ? 0 : (this.#ids[block + 1] ?? 0);
    let filled = this.#filled[term] ?? 0;
    if (filled === room) {
      const next = this.#newBlock(Math.min(LARGEST_BLOCK, Math.max(FIRST_BLOCK, room * 2)));
      if (block === 0) this.#first[term] = next;
      else this.#ids[block] = next;
      this.#last[term] = next;
      block = next;
      filled = 0;
    }
    this.#ids[block + HEAD + filled] = id;
    this.#values[block + HEAD + filled] = value;
    this.#filled[term] = filled + 1;
  }

  /** Returns the numbers of the documents that have TERM. */
  holders(term: number): number[] {
    const holders: number[] = [];
    for (let block = this.#first[term] ?? 0; block !== 0; block = this.#ids[block] ?? 0) {
      const end = this.#end(term, block);
      for (let at = block + HEAD; at < end; at++) holders.push(this.#ids[at] as number);
    }
    return holders;
  }

  /** Returns those of IDS (ascending) whose documents have TERM. Calls TELL with each, and the weight of TERM in it. */
  among(term: number, ids: readonly number[], tell?: (id: number, value: number) => void): number[] {
    const all = this.#ids;
    const found: number[] = [];
    let next = 0;
    for (let block = this.#first[term] ?? 0; block !== 0 && next < ids.length; block = all[block] ?? 0) {
      const end = this.#end(term, block);
      let at = block + HEAD;
      for (; next < ids.length && (ids[next] as number) <= (all[end - 1] as number); next++) {
        const id = ids[next] as number;
        at = firstFrom(all, id, at, end);
        if (all[at] !== id) continue;
        found.push(id);
        tell?.(id, this.#values[at] as number);
      }
    }
    return found;
  }

  /** Adds WEIGHT times each posting of TERM to the sums of TALLY. */
  addUp(term: number, weight: number, tally: Tally): void {
    const [ids, values] = [this.#ids, this.#values];
    const { sums, met } = tally;
    let { count } = tally;
    for (let block = this.#first[term] ?? 0; block !== 0; block = ids[block] ?? 0) {
      const end = this.#end(term, block);
      for (let at = block + HEAD; at < end; at++) {
        const id = ids[at] as number;
        const sum = sums[id] as number;
        if (sum === 0) met[count++] = id;
        sums[id] = sum + weight * (values[at] as number);
      }
    }
    tally.count = count;
  }

  /** Returns a copy with new numbers: TERMS and IDS map old term and document numbers to new ones. Postings with a
   *  negative new number are left out. */
  renumbered(terms: Int32Array, ids: Int32Array): Postings {
    const others = new Postings();
    terms.forEach((to, term) => {
      for (let block = to < 0 ? 0 : (this.#first[term] ?? 0); block !== 0; block = this.#ids[block] ?? 0) {
        const end = this.#end(term, block);
        for (let at = block + HEAD; at < end; at++) {
          const id = ids[this.#ids[at] as number] as number;
          if (id >= 0) others.add(to, id, this.#values[at] as number);
        }
      }
    });
    return others;
  }

  /** Returns the end index of the postings of TERM in BLOCK. */
  #end(term: number, block: number): number {
    const isLast = block === this.#last[term];
    return block + HEAD + ((isLast ? this.#filled[term] : this.#ids[block + 1]) ?? 0);
  }

  #newBlock(room: number): number {
    const block = this.#used;
    this.#used += HEAD + room;
    if (this.#used > this.#ids.length) {
      const length = Math.ceil(this.#used * 1.5);
      this.#ids = grown(this.#ids, new Int32Array(length));
      this.#values = grown(this.#values, new Float32Array(length));
    }
    this.#ids[block + 1] = room;
    return block;
  }

  #growTerms(least: number): void {
    const length = Math.ceil(least * 1.5);
    this.#first = grown(this.#first, new Int32Array(length));
    this.#last = grown(this.#last, new Int32Array(length));
    this.#filled = grown(this.#filled, new Int32Array(length));
  }
}

function grown<Kind extends Numbers>(numbers: Numbers, larger: Kind): Kind {
  larger.set(numbers);
  return larger;
}

/** Returns the index of the first of NUMBERS from AT on that is at least LEAST. NUMBERS ascend from AT to END
 *  (exclusive), and the last of these must be at least LEAST. */
function firstFrom(numbers: Int32Array, least: number, at: number, end: number): number {
  let [low, high] = [at, end - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
