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
/** What each takes besides. It bounds their number: the more are forgotten, the longer takes the way to the oldest. */
const EACH = 100;

/** Keeps the forms of several texts that were asked for last. */
export class KeptForms {
  readonly #forms = new Set<Kept>();
  #size = 0;

  /** Keeps KEPT, for which there is room when those are forgotten that nobody asked for longest. */
  use(kept: Kept): void {
    if (this.#forms.delete(kept)) this.#size -= sizeOf(kept);
    this.#forms.add(kept);
    this.#size += sizeOf(kept);
    for (const each of this.#forms) {
      if (this.#size <= KEPT || each === kept) return;
      each.forget();
      this.#forms.delete(each);
      this.#size -= sizeOf(each);
    }
  }
}

function sizeOf({ found }: Kept): number {
  return EACH + (found ? found.end - found.start : 0);
}
