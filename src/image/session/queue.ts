// Limits how many calls of a kind run at the same time. Further calls wait in order, up to a limit.

import { CallError } from '../../errors.ts';
import type { EndSignal } from '../wire/end-signal.ts';

const WAITING_LIMIT = 1000;

/** Tells a waiting call about its queue: how many calls run, and how many wait before this one. */
export type Ahead = () => { running: number; waiting: number };

export class Queue {
  readonly #places: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#places = places;
    this.#free = places;
  }

  /** If a call may run now, enters it and returns true. Otherwise returns false. */
  tryEnter(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  /** Waits until a call may run, and resolves with true; with false when SIGNAL aborts before this. Calls ON_WAIT if
   * the call has to wait. Throws a CallError when too many calls wait. */
  async enter(signal: EndSignal | undefined, onWait: (ahead: Ahead) => void): Promise<boolean> {
    if (signal?.aborted) return false;
    if (this.tryEnter()) return true;
    if (this.#waiting.length >= WAITING_LIMIT) {
      throw new CallError(
        `${WAITING_LIMIT} calls are already waiting, so this one was refused and nothing was done. Call again when some have been answered.`,
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

  /** Waits until TASK may run, runs it, and resolves with its value. */
  async within<Value>(task: () => Promise<Value>): Promise<Value> {
    await this.enter(undefined, () => {});
    return task().finally(() => this.leave());
  }

  /** Records that a call has ended, so that the call that has waited longest may run. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
