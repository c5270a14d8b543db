// Decides after which entries a rebuild probes the image, when earlier rebuilt images were lost soon. Each
// further rebuild probes within a smaller range of entries, until one entry is to blame.

import type { Ending } from '../wire/endings.ts';
import type { Entry } from './entries.ts';
import type { Cause } from './report.ts';

/** Maximum number of probes per rebuild. Each collects garbage. In most images, all of them take less than a
 *  second. */
const MAX_PROBES = 30;

export class Narrowing {
  readonly #suspectsThreads: boolean;
  #entries: readonly Entry[] = [];
  /** The bounds of the search: the culprit comes after the entry AFTER, and is the entry UP_TO or before it.
   *  undefined: no bound is known. */
  #after: Entry | undefined;
  #upTo: Entry | undefined;
  /** #lastGood: number of rebuilt entries at the last probe that passed. #running: how many threads and
   *  timers of the program ran then. */
  #lastGood = 0;
  #running = 0;

  /** With SUSPECTS_THREADS, an entry also counts as the culprit when it leaves a thread or a timer
   *  running. */
  constructor(suspectsThreads: boolean) {
    this.#suspectsThreads = suspectsThreads;
  }

  /** Returns the places of the probes in the next rebuild, which rebuilds ENTRIES. A place is a number of
   *  rebuilt entries. */
  probePoints(entries: readonly Entry[]): number[] {
    this.#entries = entries;
    this.#lastGood = 0;
    this.#running = 0;
    const first = this.#after === undefined ? 0 : entries.indexOf(this.#after) + 1;
    const end = this.#upTo === undefined ? entries.length : entries.indexOf(this.#upTo) + 1;
    const probes = Math.min(MAX_PROBES, end - first);
    const step = (end - first) / probes;
    // The probe at FIRST is made before any suspect entry is rebuilt. It counts the threads that run by then.
    const before = first > 0 ? [first] : [];
    return [...before, ...Array.from({ length: probes }, (_, n) => first + Math.ceil(step * (n + 1)))];
  }

  /** Records the probe after PLACE entries: its ENDING, whether the image WORKS, and how many threads and
   *  timers are RUNNING. Returns what is wrong, or undefined. */
  recordProbe(place: number, ending: Ending, works: boolean, running: number): Cause | undefined {
    if (ending.kind === 'lost') return { kind: 'ended', ending };
    if (ending.kind !== 'done' || !works) return { kind: 'image broken' };
    if (this.#suspectsThreads && running > this.#running) return { kind: 'runs on' };
    this.#lastGood = place;
    this.#running = running;
    return undefined;
  }

  /** Records that the probe after PLACE entries failed. Returns the culprit, or undefined while several
   *  entries can be it. */
  culprit(place: number): Entry | undefined {
    const isFound = place - this.#lastGood === 1;
    this.#after = isFound ? undefined : this.#entries[this.#lastGood - 1];
    this.#upTo = isFound ? undefined : this.#entries[place - 1];
    return isFound ? this.#entries[place - 1] : undefined;
  }
}
