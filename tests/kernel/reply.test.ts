// How long an answer may be, and that cutting it leaves whole characters.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boundText } from '../../src/kernel/reply.ts';
import { anyText } from '../any-text.ts';

const MARK = /\n\[\.\.\. (\d+) characters left out \.\.\.\]\n/;
const LIMIT = 40_000;

/** A text over the limit: PREFIX, then UNIT again and again, LENGTH long or a little longer. */
function long(prefix: string, unit: string, length: number): string {
  return prefix + unit.repeat(Math.ceil(length / unit.length));
}

/** True when TEXT has no half of a pair: only such text survives UTF-8. */
function isWellFormed(text: string): boolean {
  return Buffer.from(text, 'utf8').toString('utf8') === text;
}

const longTexts = fc
  .tuple(
    anyText({ maxLength: 9 }),
    anyText({ minLength: 1, maxLength: 9 }),
    fc.integer({ min: LIMIT + 10, max: 3 * LIMIT }),
  )
  .map(([prefix, unit, length]) => long(prefix, unit, length));

describe('boundText', () => {
  test('leaves what is short enough as it is', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        expect(boundText(text)).toBe(text);
      }),
    );
    const limit = 'x'.repeat(LIMIT);
    expect(boundText(limit)).toBe(limit);
  });

  test('bounds what is longer, keeps its head and tail, and says how much is missing', () => {
    fc.assert(
      fc.property(longTexts, (text) => {
        const bounded = boundText(text);
        expect(bounded.length).toBeLessThan(LIMIT + 100);
        const mark = MARK.exec(bounded);
        const [head, tail] = [
          bounded.slice(0, mark?.index),
          bounded.slice((mark?.index ?? 0) + (mark?.[0].length ?? 0)),
        ];
        expect(text.startsWith(head)).toBe(true);
        expect(text.endsWith(tail)).toBe(true);
        // A character of two units that the cut would have halved is missing too.
        const missing = text.length - head.length - tail.length;
        expect(Math.abs(missing - Number(mark?.[1]))).toBeLessThanOrEqual(2);
      }),
      { numRuns: 50 },
    );
  });

  test('never splits a surrogate pair', () => {
    fc.assert(
      fc.property(longTexts, (text) => {
        expect(isWellFormed(boundText(text))).toBe(true);
      }),
      { numRuns: 50 },
    );
    for (const shift of ['', 'x', 'xx', 'xxx']) {
      expect(isWellFormed(boundText(long(shift, '𝄞', 2 * LIMIT)))).toBe(true);
    }
  });

  test('says the exact number where no pair is halved', () => {
    expect(boundText('x'.repeat(LIMIT + 1))).toContain('\n[... 1 characters left out ...]\n');
    expect(boundText('x'.repeat(1_000_000))).toContain(
      `\n[... ${1_000_000 - LIMIT} characters left out ...]\n`,
    );
  });
});
