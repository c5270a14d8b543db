// Mentions calls that still run: a client can give up a call without cancelling it.

import type { Job, Jobs } from '../../image/session/jobs.ts';
import { choicesText } from './call-names.ts';

/** A call that runs longer than this is mentioned. */
const LONG_MS = 10_000;

/** The calls that have run for long; each is mentioned once. */
export class LongCalls {
  readonly #jobs: Jobs;
  readonly #longMs: number;
  readonly #mentioned = new WeakSet<Job>();

  /** JOBS has all running calls; one that runs longer than LONGMS milliseconds is mentioned. */
  constructor(jobs: Jobs, longMs: number = LONG_MS) {
    this.#jobs = jobs;
    this.#longMs = longMs;
  }

  /** Returns one note on the long calls that no earlier note mentioned, or an empty list. */
  takeNotes(): string[] {
    const long = this.#jobs
      .list()
      .filter(({ parent, milliseconds }) => parent === undefined && milliseconds >= this.#longMs)
      .filter((job) => !this.#mentioned.has(job));
    for (const job of long) this.#mentioned.add(job);
    if (long.length === 0) return [];
    return [`Note: still under way, call ${choicesText(long)}. interrupt ends what nobody waits for.`];
  }
}
