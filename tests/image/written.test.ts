// What a command is passed of a call's output while it runs.

import { expect, test } from 'vitest';
import { WrittenOutput } from '../../src/image/session/written.ts';

test('the parts of a growing output are its whole text, with a line for what was left out between two readings', () => {
  const written = new WrittenOutput();
  expect(written.isBegun).toBe(false);
  expect(written.take({ text: 'ab' })).toBe('ab');
  expect(written.isBegun).toBe(true);
  expect(written.take({ text: 'ab' })).toBe('');
  expect(written.take({ text: 'ab\u{1f600}d', omitted: 0, tail: 'ef' })).toBe('\u{1f600}def');
  expect(written.take({ text: 'ab\u{1f600}d', omitted: 3, tail: 'hi' })).toBe(
    '\n[... 1 characters left out ...]\nhi',
  );
  expect(written.take({ text: 'ab\u{1f600}d', omitted: 4, tail: 'ij' })).toBe('j');
});
