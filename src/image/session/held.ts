// Decides what is known of the calls whose error is held: how what becomes of one is told, once it goes on.

import type { Reply } from '../wire/call.ts';
import type { HeldError } from '../wire/holding.ts';
import type { Operations } from '../wire/operations.ts';

/** How many calls are known; the oldest are forgotten, whose errors are held no more. */
const LIMIT = 100;

/** A call that an error stopped: which operation it was, and what makes of its reply what it would have given. */
export interface HeldCall<Told> {
  name: keyof Operations;
  args: object;
  finish: (reply: Pick<Reply<keyof Operations>, 'ending' | 'output'> & { data: object }) => Told;
  /** Gives back what was kept for the call, which has ended. */
  release: () => void;
}

export class HeldCalls<Told> {
  /** Seconds for which an error is held after each use. */
  readonly seconds: number;
  readonly #calls = new Map<number, HeldCall<Told>>();
  /** The highest number of an error that was told, and of one that was lost with its image. */
  #told = 0;
  #lost = 0;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  /** Keeps that the error HELD stopped a call of the operation NAME with ARGS, whose reply FINISH would have told. */
  keep<Name extends keyof Operations>(
    held: HeldError,
    name: Name,
    args: Operations[Name]['args'],
    finish: (reply: Reply<Name>) => Told,
    release = () => {},
  ): void {
    this.seen(held.error);
    // What comes back then is what this operation gives.
    this.#calls.set(held.error, { name, args, finish: (reply) => finish(reply as Reply<Name>), release });
    const [oldest] = this.#calls;
    if (this.#calls.size <= LIMIT || oldest === undefined) return;
    const [number, call] = oldest;
    this.#calls.delete(number);
    call.release();
  }

  /** Keeps that the error HELD has stopped anew the call that the error NUMBER had. */
  keepAgain(held: HeldError, number: number): void {
    this.seen(held.error);
    const call = this.#calls.get(number);
    if (call !== undefined) this.#calls.set(held.error, call);
  }

  /** Takes that there is an error NUMBER. */
  seen(number: number): void {
    this.#told = Math.max(this.#told, number);
  }

  /** Forgets all calls: their image is lost. */
  clear(): void {
    for (const { release } of this.#calls.values()) release();
    this.#calls.clear();
    this.#lost = this.#told;
  }

  /** The number of the last error that was lost with its image; errors that are held from then on have higher ones. */
  get lost(): number {
    return this.#lost;
  }

  /** Returns the call that the error NUMBER stopped; undefined for one in a thread of the program. */
  call(number: number): HeldCall<Told> | undefined {
    return this.#calls.get(number);
  }
}
