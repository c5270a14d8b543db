// Follows what a running call writes.

import { leftOutLine } from '../wire/endings.ts';
import type { Output } from '../wire/operations.ts';

/** Divides the output of one call, which is read several times while it grows, into what was passed on and the rest. */
export class WrittenOutput {
  /** How many characters were passed on or left out. */
  #passed = 0;

  /** True once a part was passed on. */
  get isBegun(): boolean {
    return this.#passed > 0;
  }

  /** Returns what OUTPUT, all that the call has written so far, has behind what was returned before. */
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
