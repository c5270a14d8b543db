// Decides where a rebuild probes the image, after rebuilt images were lost soon. It probes at a few places, and closer
// together in the next rebuild, until one entry is to blame.

import type { Ending } from '../wire/endings.ts';
import type { Entry } from './entries.ts';
import type { Cause } from './report.ts';

/** At most this many probes per rebuild. Each collects garbage: together less than a second in most images. */
const MAX_PROBES = 30;

export class Narrowing {
  readonly #suspectsThreads: boolean;
  #entries: readonly Entry[] = [];
  /** As far as is known, the culprit comes after the entry AFTER, and is UP_TO or before it. */
  #after: Entry | undefined;
  #upTo: Entry | undefined;
  /** After how many entries the image last worked, and how many threads and timers of the program ran then. */
  #lastGood = 0;
  #running = 0;

  /** With SUSPECTS_THREADS, an entry that leaves a thread or a timer running is to blame too. */
  constructor(suspectsThreads: boolean) {
    this.#suspectsThreads = suspectsThreads;
  }

  /** Returns where to probe: after how many of ENTRIES, which are about to be rebuilt. */
  probePoints(entries: readonly Entry[]): number[] {
    this.#entries = entries;
    this.#lastGood = 0;
    this.#running = 0;
    const first = this.#after === undefined ? 0 : entries.indexOf(this.#after) + 1;
    const end = this.#upTo === undefined ? entries.length : entries.indexOf(this.#upTo) + 1;
    const probes = Math.min(MAX_PROBES, end - first);
    const step = (end - first) / probes;
    // The first probe counts the threads that ran before the suspects.
    const before = first > 0 ? [first] : [];
    return [...before, ...Array.from({ length: probes }, (_, n) => first + Math.ceil(step * (n + 1)))];
  }

  /** Records the probe after PLACE entries: its ENDING, whether the image WORKS, and how many threads are RUNNING.
   *  Returns what is wrong, or undefined. */
  recordProbe(place: number, ending: Ending, works: boolean, running: number): Cause | undefined {
    if (ending.kind === 'lost') return { kind: 'ended', ending };
    if (ending.kind !== 'done' || !works) return { kind: 'image broken' };
    if (this.#suspectsThreads && running > this.#running) return { kind: 'runs on' };
    this.#lastGood = place;
    this.#running = running;
    return undefined;
  }

  /** Records that something was wrong after PLACE entries. Returns the entry to blame, if it is known by now. */
  culprit(place: number): Entry | undefined {
    const isFound = place - this.#lastGood === 1;
    this.#after = isFound ? undefined : this.#entries[this.#lastGood - 1];
    this.#upTo = isFound ? undefined : this.#entries[place - 1];
    return isFound ? this.#entries[place - 1] : undefined;
  }
}
