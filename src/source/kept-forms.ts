// Decides how many of the forms that were read are kept.

import type { Form } from './form.ts';

/** A top-level form: its text is from START to END. */
export interface TopLevelForm {
  form: Form;
  start: number;
  end: number;
}

/** A form that was read, for as long as it is kept. */
export interface Kept {
  found: TopLevelForm | undefined;
  forget: () => void;
}

/** Characters of the forms that are kept; what is read of one takes about thirty times as much. */
const KEPT = 256 * 1024;
/** What each takes besides. */
const EACH = 100;

/** Keeps the forms of several texts that were asked for last. A list from which the oldest is taken each time would not do:
 *  a Set passes over all that were deleted before it. */
export class KeptForms {
  #young = new Set<Kept>();
  #old = new Set<Kept>();
  /** What the young ones take. */
  #size = 0;

  /** Keeps KEPT. When there is half of what there is room for since that was done last, all that nobody asked for since are
   *  forgotten. */
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
