// Makes notes about long calls that still run, because a client can stop waiting for a call without cancelling it.

import type { Job, Jobs } from '../../image/session/jobs.ts';
import { choicesText } from './call-names.ts';

/** A call is long when it has run for this many milliseconds. */
const LONG_MS = 10_000;

/** Makes one note about each long call. */
export class LongCalls {
  readonly #image: { readonly jobs: Jobs };
  readonly #longMs: number;
  readonly #mentioned = new WeakSet<Job>();

  /** IMAGE has the list of the running calls. A call is long after LONG_MS milliseconds. */
  constructor(image: { readonly jobs: Jobs }, longMs: number = LONG_MS) {
    this.#image = image;
    this.#longMs = longMs;
  }

  /** Returns a note about the long calls that no earlier note mentioned; [] when there are none. */
  takeNotes(): string[] {
    const long = this.#image.jobs
      .list()
      .filter(({ parent, milliseconds }) => parent === undefined && milliseconds >= this.#longMs)
      .filter((job) => !this.#mentioned.has(job));
    for (const job of long) this.#mentioned.add(job);
    if (long.length === 0) return [];
    return [
      `Note: still running: call ${choicesText(long)}. Use interrupt to end a call that nobody waits for.`,
    ];
  }
}
