// Ordinary calls, many of them: neither the server nor its image grows, and nothing is left.

import { expect, test } from 'vitest';
import { Arena } from './arena.ts';
import { growth, makeOrdinaryCalls, slope } from './ordinary.ts';

/** The long run makes many more calls, within less, and bounds all memory of the processes too: in the first thousands that
 *  grows by what Node compiles. */
const CALLS = 1500;
const SLOPE = { serverHeapSlope: 700, imageHeapSlope: 1000 };

test('the slope of a line is found, by the thousand', () => {
  expect(slope([100, 200, 300, 400].map((calls) => [calls, 7 + calls / 50]))).toBeCloseTo(20);
});

test(`${CALLS} ordinary calls leave no descriptor, thread or file, and little in the heaps`, async () => {
  const arena = await Arena.start({ limitS: 60 });
  try {
    expect(growth(await makeOrdinaryCalls(arena, CALLS, 0.25), SLOPE)).toEqual([]);
  } finally {
    await arena.close();
  }
});
