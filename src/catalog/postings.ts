// Decides how it is kept which documents have which terms: numbers in typed arrays, in chains of blocks that grow.

import type { Tally } from './tally.ts';

/** Numbers in an array that grows. */
type Numbers = Int32Array | Float32Array;

/** Postings in a term's first block, and in its largest: most terms are rare. */
const FIRST_BLOCK = 2;
const LARGEST_BLOCK = 256;

/** The head of a block: the place of the next one, or 0, and how many postings have room in it. */
const HEAD = 2;

/** Terms by number, each with its documents and what it tells of each. Nothing is taken out: a document that is gone is
 *  known by its number. */
export class Postings {
  /** Blocks, of heads and of the numbers of documents; the first place is never used. */
  #ids = new Int32Array(1024);
  /** At the same places, what the term tells of that document. */
  #values = new Float32Array(1024);
  #used = 1;
  /** Of each term: its first and last block, and how many postings are in the last one. */
  #first = new Int32Array(256);
  #last = new Int32Array(256);
  #filled = new Int32Array(256);

  /** Adds that TERM tells VALUE of the document ID. */
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

  /** Returns the documents that have TERM. */
  holders(term: number): number[] {
    const holders: number[] = [];
    for (let block = this.#first[term] ?? 0; block !== 0; block = this.#ids[block] ?? 0) {
      const end = this.#end(term, block);
      for (let at = block + HEAD; at < end; at++) holders.push(this.#ids[at] as number);
    }
    return holders;
  }

  /** Returns those of IDS, which ascend, that have TERM. TELL gets each with what TERM tells of it. */
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

  /** Adds to TALLY what TERM tells of the documents that have it, WEIGHT times. */
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

  /** Returns the same postings, where terms and documents have the numbers that TERMS and IDS have for them. Those with a
   *  negative one are left out. */
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

  /** Returns where the postings of TERM in BLOCK end. */
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

/** Returns NUMBERS in LARGER, which has room for more. */
function grown<Kind extends Numbers>(numbers: Numbers, larger: Kind): Kind {
  larger.set(numbers);
  return larger;
}

/** Returns the place from AT to END, where NUMBERS ascend, of the first that is not below LEAST; the last is not. */
function firstFrom(numbers: Int32Array, least: number, at: number, end: number): number {
  let [low, high] = [at, end - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
