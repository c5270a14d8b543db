// Decides which calls are told to run on: a client can give one up without a word, and then nobody waits for it.

import type { Job, Jobs } from '../../image/session/jobs.ts';
import { choicesText } from './call-names.ts';

/** Milliseconds after which a call is told to run on. */
const LONG_MS = 10_000;

/** The calls that run long, each of which is told once. */
export class LongCalls {
  readonly #jobs: Jobs;
  readonly #afterMs: number;
  readonly #told = new WeakSet<Job>();

  /** They are among JOBS, and long after AFTER_MS milliseconds. */
  constructor(jobs: Jobs, afterMs = LONG_MS) {
    this.#jobs = jobs;
    this.#afterMs = afterMs;
  }

  /** Returns the notes about those that were not told yet: one or none. */
  takeNotes(): string[] {
    const long = this.#jobs
      .list()
      .filter(({ parent, milliseconds }) => parent === undefined && milliseconds >= this.#afterMs)
      .filter((job) => !this.#told.has(job));
    for (const job of long) this.#told.add(job);
    if (long.length === 0) return [];
    return [`Note: still under way, call ${choicesText(long)}. interrupt ends what nobody waits for.`];
  }
}
