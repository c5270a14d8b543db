// Ordinary calls, many of them: neither the server nor its image grows, and nothing is left.

import { expect, test } from 'vitest';
import { Arena } from './arena.ts';
import { growth, makeOrdinaryCalls, slope } from './ordinary.ts';

/** The first calls also make Node compile the server; the long run makes many more, within less. */
const CALLS = 1500;
const SLOPE = { serverSlope: 5000, serverHeapSlope: 700, imageSlope: 2000, imageHeapSlope: 1000 };

test('the slope of a line is found, by the thousand', () => {
  expect(slope([100, 200, 300, 400].map((calls) => [calls, 7 + calls / 50]))).toBeCloseTo(20);
});

test(`${CALLS} ordinary calls leave no descriptor, thread or file, and little memory`, async () => {
  const arena = await Arena.start();
  try {
    expect(growth(await makeOrdinaryCalls(arena, CALLS, 0.25), SLOPE)).toEqual([]);
  } finally {
    await arena.close();
  }
});
