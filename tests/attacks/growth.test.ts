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
 *  with the square 64 times. */
const GROWTH = 2.5 ** Math.log2(TIMES);
/** How often both are measured at most. What disturbs a measurement only makes it longer, so the least of many is right. */
const TRIES = 25;
/** Milliseconds below which time tells nothing. */
const NOISE_MS = 40;

function cpuMs(): number {
  const [ran] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(ran) / 1e6;
}

/** Returns the time of the CPU that WORK with TEXT takes. One that refuses the text has looked at it. */
function timeOf(work: (text: string) => unknown, text: string): number {
  const before = cpuMs();
  try {
    work(text);
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
  }
  return cpuMs() - before;
}

describe.each(Object.entries(FUNCTIONS))('%s', (_, work) => {
  test('takes time that grows with the text, and not with its square', () => {
    const grown = Object.entries(SHAPES).flatMap(([name, shape]) => {
      const [small, large] = [shape(SIZE), shape(TIMES * SIZE)];
      let [one, many] = [Number.POSITIVE_INFINITY, timeOf(work, large)];
      for (let tries = 0; tries < TRIES && many > NOISE_MS; tries++) {
        one = Math.min(one, timeOf(work, small));
        many = Math.min(many, timeOf(work, large));
        if (tries >= 2 && many <= GROWTH * Math.max(one, NOISE_MS / TIMES)) return [];
      }
      return many <= NOISE_MS ? [] : [`${name}: ${Math.round(one)}, ${Math.round(many)} ms`];
    });
    expect(grown).toEqual([]);
  });
});
