// Time grows with the text, and not with its square, in every function that looks at a text from outside.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LONG } from '../long.ts';
import { FUNCTIONS } from './functions.ts';
import { SHAPES } from './shapes.ts';

/** Characters of the smaller text, and how many times as many the larger one has. */
const SIZE = LONG ? 62_500 : 7_500;
const TIMES = 8;
/** How many times as long the larger may take: 2.5 for each doubling. Linear work takes 8 times as long, work that grows
 *  with the square 64 times. The short run shares the machine with other tests, so it allows for more noise. */
const GROWTH = LONG ? 16 : 44;
/** Milliseconds below which time tells nothing. */
const NOISE_MS = 40;

function cpuMs(): number {
  const [ran] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(ran) / 1e6;
}

/** Returns the least time of the CPU that some calls of WORK with TEXT take. One that refuses the text has looked at it. */
function leastMs(work: (text: string) => unknown, text: string, tries: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < tries; count++) {
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
  test('takes time that grows with the text, and not with its square', () => {
    const grown = Object.entries(SHAPES).flatMap(([name, shape]) => {
      const [small, large] = [shape(SIZE), shape(TIMES * SIZE)];
      if (leastMs(work, large, 1) <= NOISE_MS) return [];
      const [one, many] = [leastMs(work, small, 5), leastMs(work, large, 5)];
      return many <= GROWTH * Math.max(one, NOISE_MS / TIMES)
        ? []
        : [`${name}: ${Math.round(one)}, ${Math.round(many)} ms`];
    });
    expect(grown).toEqual([]);
  });
});
