// Decides where a rebuild tries the image, after images that were built so were lost soon. These are a few places, closer
// together the next time, until one entry is to blame.

import type { Ending } from '../wire/endings.ts';
import type { Entry } from './entries.ts';
import type { Cause } from './report.ts';

/** Places in which one rebuild tries the image. Each costs a collection: together less than a second in most images. */
const TRIES = 30;

export class Narrowing {
  readonly #suspectsThreads: boolean;
  #entries: readonly Entry[] = [];
  /** The culprit comes after the one and is the other or before it, as far as is known. */
  #after: Entry | undefined;
  #upTo: Entry | undefined;
  /** After how many entries the image was last as it should be, and what the program had running then. */
  #good = 0;
  #running = 0;

  /** With SUSPECTS_THREADS what keeps a thread or a timer running is to blame too. */
  constructor(suspectsThreads: boolean) {
    this.#suspectsThreads = suspectsThreads;
  }

  /** Returns after how many of ENTRIES, which are built now, the image is tried. */
  places(entries: readonly Entry[]): number[] {
    this.#entries = entries;
    this.#good = 0;
    this.#running = 0;
    const first = this.#after === undefined ? 0 : entries.indexOf(this.#after) + 1;
    const end = this.#upTo === undefined ? entries.length : entries.indexOf(this.#upTo) + 1;
    const tries = Math.min(TRIES, end - first);
    const step = (end - first) / tries;
    // What runs before they begin is what they are compared with.
    const before = first > 0 ? [first] : [];
    return [...before, ...Array.from({ length: tries }, (_, n) => first + Math.ceil(step * (n + 1)))];
  }

  /** Takes that the image was tried after PLACE entries: how that ended, whether it WORKS, and what is RUNNING. Returns what
   *  is wrong with it, if anything is. */
  tried(place: number, ending: Ending, works: boolean, running: number): Cause | undefined {
    if (ending.kind === 'lost') return { kind: 'ended', ending };
    if (ending.kind !== 'done' || !works) return { kind: 'image broken' };
    if (this.#suspectsThreads && running > this.#running) return { kind: 'runs on' };
    this.#good = place;
    this.#running = running;
    return undefined;
  }

  /** Takes that something was wrong after PLACE entries. Returns which is to blame, when that is known by now. */
  culprit(place: number): Entry | undefined {
    const found = place - this.#good === 1;
    this.#after = found ? undefined : this.#entries[this.#good - 1];
    this.#upTo = found ? undefined : this.#entries[place - 1];
    return found ? this.#entries[place - 1] : undefined;
  }
}
