// Time grows with the text, and not with its square, in every function that looks at a text from outside.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LONG } from '../long.ts';
import { FUNCTIONS } from './functions.ts';
import { SHAPES } from './shapes.ts';

/** Characters of the smaller text, and how many times as many the larger one has. */
const SIZE = LONG ? 62_500 : 5_000;
const TIMES = 8;
/** How many times as long the larger may take as the smaller one, read TIMES times. Work that is linear takes as long, and up
 *  to 2.3 times where what it makes outgrows the cache of the CPU; work that grows with the square TIMES as long. */
const GROWTH = Math.sqrt(TIMES);
/** How often both are measured at most. What disturbs a measurement only makes it longer, so the least of many is right. */
const TRIES = 25;
/** Milliseconds of the CPU below which time tells nothing. A loop over the square of the larger text
 *  takes a second and more; one inside a function of the engine, which is faster, shows in the texts of the long run. */
const NOISE_MS = 40;

function cpuMs(): number {
  const [ran] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(ran) / 1e6;
}

/** Returns the time of the CPU that WORK takes with TEXT, OFTEN times over. One that refuses the text has looked at it. */
function timeOf(work: (text: string) => unknown, text: string, often: number): number {
  const before = cpuMs();
  for (let time = 0; time < often; time++) {
    try {
      work(text);
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
  }
  return cpuMs() - before;
}

describe.each(Object.entries(FUNCTIONS))('%s', (_, work) => {
  test('takes time that grows with the text, and not with its square', () => {
    const grown = Object.entries(SHAPES).flatMap(([name, shape]) => {
      const [small, large] = [shape(SIZE), shape(TIMES * SIZE)];
      // Both are as many characters, so that they take as long: the clock of some machines counts in steps of 4 ms.
      let [one, many] = [Number.POSITIVE_INFINITY, timeOf(work, large, 1)];
      for (let tries = 0; tries < TRIES && many > NOISE_MS; tries++) {
        one = Math.min(one, timeOf(work, small, TIMES));
        many = Math.min(many, timeOf(work, large, 1));
        if (tries >= 1 && many <= GROWTH * Math.max(one, NOISE_MS)) return [];
      }
      return many <= NOISE_MS ? [] : [`${name}: ${Math.round(one)}, ${Math.round(many)} ms`];
    });
    expect(grown).toEqual([]);
  });
});
