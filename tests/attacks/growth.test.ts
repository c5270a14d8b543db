// Time grows with the text, and not with its square, in every function that looks at a text from outside.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LONG } from '../long.ts';
import { FUNCTIONS } from './functions.ts';
import { SHAPES } from './shapes.ts';

/** Characters of the smaller text, and milliseconds below which time tells nothing. */
const SIZE = LONG ? 250_000 : 30_000;
const NOISE_MS = 40;

function cpuMs(): number {
  const [ran] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(ran) / 1e6;
}

/** Returns the least time of the CPU that some calls of WORK with TEXT take. One that refuses the text has looked at it. */
function leastMs(work: (text: string) => unknown, text: string, tries: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < tries && least > NOISE_MS; count++) {
    const before = cpuMs();
    try {
      work(text);
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
    least = Math.min(least, cpuMs() - before);
  }
  return least;
}

describe.each(Object.entries(FUNCTIONS))('%s', (_, work) => {
  test('takes at most 2.5 times as long for twice the text', () => {
    const grown = Object.entries(SHAPES).flatMap(([name, shape]) => {
      const [small, large] = [shape(SIZE), shape(2 * SIZE)];
      const few = leastMs(work, large, 1);
      if (few <= NOISE_MS) return [];
      const [one, two] = [leastMs(work, small, 5), leastMs(work, large, 5)];
      return two <= Math.max(NOISE_MS, 2.5 * Math.max(one, NOISE_MS / 4))
        ? []
        : [`${name}: ${Math.round(one)}, ${Math.round(two)} ms`];
    });
    expect(grown).toEqual([]);
  });
});
