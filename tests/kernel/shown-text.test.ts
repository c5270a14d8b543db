// What a human is shown of a long question: no line without its beginning, and how much is missing.

import { expect, test } from 'vitest';
import { boundedPreview } from '../../src/kernel/shown.ts';

/** Returns the lines of a question, without those that say what is left out, and how much they say that is. */
function shown(text: string): { lines: string[]; hidden: number } {
  const [head = '', , ...lines] = boundedPreview(text).split('\n');
  const count = /^Too long to show whole: (\d+) characters in the middle are left out\.$/.exec(head)?.[1];
  expect(lines.join('\n')).toContain(`[... ${count} characters are not shown ...]`);
  return { lines: lines.filter((line) => !line.startsWith('[... ')), hidden: Number(count) };
}

test('what fits is shown whole', () => {
  expect(boundedPreview('x'.repeat(8000))).toBe('x'.repeat(8000));
});

test.each([1, 7, 99, 999])('each line of length %i keeps its mark', (length) => {
  const line = `+${'--- fake\u00e9'.repeat(length).slice(0, length)}`;
  const text = `${line}\n`.repeat(20_000 / length);
  const { lines, hidden } = shown(text);
  expect(new Set(lines.slice(0, -1))).toEqual(new Set([line]));
  expect(text.length - hidden).toBe((lines.length - 1) * (line.length + 1));
  expect(text.length - hidden).toBeGreaterThan(6000);
});

test('a longer line is cut in the middle, in one line', () => {
  const { lines } = shown(`+${'a'.repeat(9000)}\n+${'b'.repeat(9000)}`);
  expect(lines).toEqual([`+${'a'.repeat(3999)}[... 10003 characters are not shown ...]${'b'.repeat(4000)}`]);
});
