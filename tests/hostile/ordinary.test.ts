// Ordinary calls, many of them: neither the server nor its image grows, and nothing is left.

import { expect, test } from 'vitest';
import { Arena } from './arena.ts';
import { growth, makeOrdinaryCalls, slope } from './ordinary.ts';

/** The first calls also fill heaps up to where they are collected; the long run makes many more, within less. */
const CALLS = 1500;
const SLOPE = { server: 40_000, image: 40_000 };

test('the slope of a line is found, by the thousand', () => {
  expect(slope([100, 200, 300, 400].map((calls) => [calls, 7 + calls / 50]))).toBeCloseTo(20);
});

test(`${CALLS} ordinary calls leave no descriptor, thread or file, and little memory`, async () => {
  const arena = await Arena.start();
  try {
    expect(growth(await makeOrdinaryCalls(arena, CALLS), SLOPE)).toEqual([]);
  } finally {
    await arena.close();
  }
});
