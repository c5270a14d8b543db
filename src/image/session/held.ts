// Remembers the calls that a held error stopped, whose threads wait for the tool debug. The answer of a
// resumed call then has the form that its tool planned.

import type { Reply } from '../wire/call.ts';
import type { HeldError, Operations } from '../wire/operations.ts';

/** Maximum number of calls to remember. The oldest call is dropped first, when its error is no longer
 *  held. */
const LIMIT = 100;

/** A call that a held error stopped. Its thread waits for the tool debug. */
export interface HeldCall<Rendered> {
  name: keyof Operations;
  args: object;
  /** Turns the reply of the resumed call into the call's answer. */
  finish: (reply: Pick<Reply<keyof Operations>, 'ending' | 'output'> & { data: object }) => Rendered;
  /** True when the macro TIME measures the call. */
  timed: boolean;
  /** Milliseconds for which errors have held the call, without the time after `since`. */
  heldMs: number;
  /** The end of the time in `heldMs`, or the time when the last error stopped the call (performance.now). */
  since: number;
  /** Frees the resources of the call after its end. */
  release: () => void;
}

export class HeldCalls<Rendered> {
  /** Seconds for which an error is held after each use. */
  readonly seconds: number;
  readonly #calls = new Map<number, HeldCall<Rendered>>();
  #highestReported = 0;
  #highestLost = 0;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  /** Remembers that the error HELD stopped a call of the operation NAME with ARGS. FINISH renders the reply
   *  of the resumed call, and RELEASE then frees the call's resources. */
  keep<Name extends keyof Operations>(
    held: HeldError,
    name: Name,
    args: Operations[Name]['args'],
    finish: (reply: Reply<Name>) => Rendered,
    release = () => {},
  ): void {
    this.recordNumber(held.error);
    // The cast is safe, because the later reply is one of the operation NAME.
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

  /** Remembers that a call continued after the error NUMBER, and that the error HELD then stopped it. */
  keepAgain(held: HeldError, number: number): void {
    this.recordNumber(held.error);
    const call = this.#calls.get(number);
    if (call === undefined) return;
    call.timed ||= held.timed === true;
    call.since = performance.now();
    this.#calls.set(held.error, call);
  }

  /** Adds the time until now to the time for which the error NUMBER has held its call. */
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

  /** The highest number of an error that was lost with its image. Later errors have higher numbers. */
  get highestLost(): number {
    return this.#highestLost;
  }

  /** Returns the call that the error NUMBER stopped; undefined for an error in a thread of the program. */
  call(number: number): HeldCall<Rendered> | undefined {
    return this.#calls.get(number);
  }
}
