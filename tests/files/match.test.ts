// Where an edit's text is found, and that looking for it cannot hold up the server.

import { expect, test } from 'vitest';
import { occurrences } from '../../src/tools/match.ts';
import { within } from '../load.ts';

/** Returns the places of WANTED in TEXT, found as simply as possible. */
function places(text: string, wanted: string): number[] {
  return [...text].flatMap((_, at) => (text.startsWith(wanted, at) ? [at] : []));
}

test('of all short texts, all places are found', () => {
  const texts = Array.from({ length: 6 }, (_, length) => length).flatMap((length) =>
    Array.from({ length: 3 ** length }, (_, index) =>
      index.toString(3).padStart(length, '0').replaceAll('0', 'a').replaceAll('1', 'b').replaceAll('2', '\n'),
    ),
  );
  for (const wanted of texts.filter((each) => each !== '' && each.length < 5)) {
    const expected = texts.map((text) => {
      const found = places(text, wanted);
      const lines = [...new Set(found.map((at) => text.slice(0, at).split('\n').length))];
      const apart = (ends: number[], at: number) =>
        (ends.at(-1) ?? 0) <= at ? [...ends, at + wanted.length] : ends;
      const starts = found.reduce(apart, []).map((end) => end - wanted.length);
      return { count: found.length, starts, lines };
    });
    expect(texts.map((text) => occurrences(text, wanted))).toEqual(expected);
  }
});

const LONG = 60_000;
test.each([
  ['dashes', '-'.repeat(LONG), '-'.repeat(300_000), 240_001],
  ['dashes with a middle', `${'-'.repeat(LONG)}x${'-'.repeat(LONG)}`, '-'.repeat(300_000), 0],
  ['two letters', 'ab'.repeat(LONG), 'ab'.repeat(150_000), 90_001],
])('%s are found in time', async (_, wanted, text, count) => {
  expect((await within(500, () => occurrences(text, wanted))).count).toBe(count);
});

test('the largest file is looked through in time', async () => {
  const [text, wanted] = ['-'.repeat(16 * 1024 * 1024), '-'.repeat(8 * 1024 * 1024)];
  expect((await within(5000, () => occurrences(text, wanted))).count).toBe(8388609);
});
