// Limits how many calls of a kind run at the same time. The others wait in order, up to a limit.

import { CallError } from '../../errors.ts';
import type { EndSignal } from '../wire/end-signal.ts';

/** Maximum number of calls of a kind that can wait. */
const WAITING_LIMIT = 1000;

/** Returns how many calls have a place of the queue (`running`), and how many wait before this call
 *  (`waiting`). */
export type Ahead = () => { running: number; waiting: number };

export class Queue {
  readonly #places: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#places = places;
    this.#free = places;
  }

  /** Takes a place if one is free, and returns whether one was. */
  tryEnter(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  /** Waits for a place. Returns true when the call has one, and false when SIGNAL aborted first. Calls
   *  ON_WAIT if no place is free at once. Throws a CallError when too many calls wait already. */
  async enter(signal: EndSignal | undefined, onWait: (ahead: Ahead) => void): Promise<boolean> {
    if (signal?.aborted) return false;
    if (this.tryEnter()) return true;
    if (this.#waiting.length >= WAITING_LIMIT) {
      throw new CallError(
        `${WAITING_LIMIT} calls wait already until others have ended, so this one was not taken and nothing was done. Call again when some have been answered.`,
      );
    }
    return new Promise((resolve) => {
      const enter = () => {
        signal?.removeEventListener('abort', leave);
        resolve(true);
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        resolve(false);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(enter);
      onWait(() => ({ running: this.#places, waiting: Math.max(0, this.#waiting.indexOf(enter)) }));
    });
  }

  /** Waits for a place, runs TASK, and frees the place. Returns the value of TASK. */
  async within<Value>(task: () => Promise<Value>): Promise<Value> {
    await this.enter(undefined, () => {});
    return task().finally(() => this.leave());
  }

  /** Frees a place, or hands it to the call that has waited longest. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
