// Stores the calls that a held error has stopped. The thread of a held error waits for the tool debug. When such a call
// continues and ends, its own tool renders the answer.

import type { Reply } from '../wire/call.ts';
import type { HeldError, Operations } from '../wire/operations.ts';

/** Maximum number of calls that are stored. When there are more, the oldest one is dropped. By then, its error is no
 * longer held. */
const LIMIT = 100;

/** A call that a held error has stopped. Its thread waits for the tool debug. */
export interface HeldCall<Rendered> {
  name: keyof Operations;
  args: object;
  /** Makes the answer of the call from the reply, when the call has continued and ended. */
  finish: (reply: Pick<Reply<keyof Operations>, 'ending' | 'output'> & { data: object }) => Rendered;
  /** True when the macro TIME measures the call. */
  timed: boolean;
  /** Number of milliseconds for which errors have held the call, not counting the time after `since`. */
  heldMs: number;
  /** Up to this time (performance.now), `heldMs` includes the time for which errors have held the call. It is the time
   * of the last call of `countHolding` or of the last error that stopped the call, whichever was later. */
  since: number;
  /** Frees the resources of the call. Called when the call has ended. */
  release: () => void;
}

export class HeldCalls<Rendered> {
  /** The number of seconds for which an error is held after it was last used. */
  readonly seconds: number;
  readonly #calls = new Map<number, HeldCall<Rendered>>();
  #highestReported = 0;
  #highestLost = 0;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  /** Stores that the error HELD has stopped a call of the operation NAME with ARGS. When the call has ended, FINISH
   * renders its reply, and RELEASE frees its resources. */
  keep<Name extends keyof Operations>(
    held: HeldError,
    name: Name,
    args: Operations[Name]['args'],
    finish: (reply: Reply<Name>) => Rendered,
    release = () => {},
  ): void {
    this.recordNumber(held.error);
    // The cast is safe: when the call has ended, FINISH gets the reply to this call, which is of the operation NAME.
    this.#calls.set(held.error, {
      name,
      args,
      finish: (reply) => finish(reply as Reply<Name>),
      timed: held.timed === true,
      heldMs: 0,
      since: performance.now(),
      release,
    });
    const [oldest] = this.#calls;
    if (this.#calls.size <= LIMIT || oldest === undefined) return;
    const [number, call] = oldest;
    this.#calls.delete(number);
    call.release();
  }

  /** Records that a call has continued after the error with the number NUMBER, and that another error, HELD, has then
   * stopped it. */
  keepAgain(held: HeldError, number: number): void {
    this.recordNumber(held.error);
    const call = this.#calls.get(number);
    if (call === undefined) return;
    call.timed ||= held.timed === true;
    call.since = performance.now();
    this.#calls.set(held.error, call);
  }

  /** Adds the time since the last count to the time for which the error NUMBER has held its call. */
  countHolding(number: number): void {
    const call = this.#calls.get(number);
    if (call === undefined) return;
    const now = performance.now();
    call.heldMs += now - call.since;
    call.since = now;
  }

  recordNumber(number: number): void {
    this.#highestReported = Math.max(this.#highestReported, number);
  }

  clear(): void {
    for (const { release } of this.#calls.values()) release();
    this.#calls.clear();
    this.#highestLost = this.#highestReported;
  }

  /** The highest number of the errors that were lost with their images. Later errors get higher numbers. */
  get highestLost(): number {
    return this.#highestLost;
  }

  /** Returns the call that the error NUMBER has stopped; undefined for an error in a thread of the program. */
  call(number: number): HeldCall<Rendered> | undefined {
    return this.#calls.get(number);
  }
}
