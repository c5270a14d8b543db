// Follows what a running call writes.

import { leftOutLine } from '../wire/endings.ts';
import type { Output } from '../wire/operations.ts';

/** Divides the growing output of one call into parts. Each part follows the part before it. */
export class WrittenOutput {
  /** Number of characters of the output that earlier parts contain or leave out. */
  #passed = 0;

  /** True when `take` has returned a part that is not empty. */
  get isBegun(): boolean {
    return this.#passed > 0;
  }

  /** Returns the next part. OUTPUT is all that the call has written so far. */
  take({ text, omitted = 0, tail = '' }: Output): string {
    // The image counts characters. Some of them have two units in a string of JavaScript.
    const [head, end] = [[...text], [...tail]];
    const before = this.#passed;
    const endStart = head.length + omitted;
    const leftOut = endStart - Math.max(before, head.length);
    this.#passed = endStart + end.length;
    return [
      ...head.slice(before),
      leftOut > 0 ? leftOutLine(leftOut) : '',
      ...end.slice(Math.max(0, before - endStart)),
    ].join('');
  }
}
