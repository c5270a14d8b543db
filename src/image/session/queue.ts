// Limits how many calls of a kind run concurrently. The rest wait in order, up to a limit.

import { CallError } from '../../errors.ts';
import type { EndSignal } from '../wire/end-signal.ts';

/** At most this many calls of a kind can wait. */
const WAITING_LIMIT = 1000;

/** Returns how many calls hold the places that a call waits for, and how many wait before it. */
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
  take(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  /** Resolves when a place is taken. Calls ON_WAIT if none is free at once. Rejects with SIGNAL's reason when SIGNAL
   *  aborts first, and with a CallError when too many calls wait already. */
  async enter(signal: EndSignal | undefined, onWait: (ahead: Ahead) => void): Promise<void> {
    if (signal?.aborted) throw signal.reason;
    if (this.take()) return;
    if (this.#waiting.length >= WAITING_LIMIT) {
      throw new CallError(
        `${WAITING_LIMIT} calls wait already until others have ended, so this one was not taken and nothing was done. Call again when some have been answered.`,
      );
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(enter);
      onWait(() => ({ running: this.#places, waiting: Math.max(0, this.#waiting.indexOf(enter)) }));
    });
  }

  /** Runs TASK with a place, and returns its value. */
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

/** Waits for a place in QUEUE. Returns true when it is taken, false when SIGNAL aborted first. Throws a CallError when
 *  too many calls wait already. */
export async function enterUnlessAborted(
  queue: Queue,
  signal: EndSignal,
  onWait: (ahead: Ahead) => void,
): Promise<boolean> {
  try {
    await queue.enter(signal, onWait);
    return true;
  } catch (error) {
    if (error instanceof CallError) throw error;
    return false;
  }
}
