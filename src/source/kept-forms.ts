// Limits the size of the cache of forms that were read.

import type { Form } from './form.ts';

/** A top-level form and the span of its text. */
export interface TopLevelForm {
  form: Form;
  start: number;
  end: number;
}

/** A cache entry. FORGET removes it from the TopLevelForms that holds it. */
export interface Kept {
  found: TopLevelForm | undefined;
  forget: () => void;
}

/** Capacity of the cache, in characters of text. A form takes about thirty times as much memory as its text. */
const KEPT = 256 * 1024;
/** Characters counted for each entry besides its text. */
const EACH = 100;

/** An approximate LRU cache of the forms of several texts, in two generations. A single Set from which the oldest entry
 *  is deleted each time would be slow: to find that entry it passes over all those deleted before. */
export class KeptForms {
  #young = new Set<Kept>();
  #old = new Set<Kept>();
  /** Characters of the young generation. */
  #size = 0;

  /** Marks KEPT as used. When the young generation fills half of the capacity, the old one is evicted and the young one
   *  becomes old. */
  use(kept: Kept): void {
    if (this.#young.has(kept)) return;
    this.#old.delete(kept);
    this.#young.add(kept);
    this.#size += sizeOf(kept);
    if (this.#size <= KEPT / 2) return;
    for (const each of this.#old) each.forget();
    this.#old = this.#young;
    this.#young = new Set();
    this.#size = 0;
  }
}

function sizeOf({ found }: Kept): number {
  return EACH + (found ? found.end - found.start : 0);
}
