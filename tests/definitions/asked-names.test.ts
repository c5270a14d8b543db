// What can be given as names of definitions.

import { expect, test } from 'vitest';
import { parseQueries } from '../../src/tools/definitions/asked-names.ts';

test('more text than names have is refused before it is read', () => {
  expect(parseQueries('one '.repeat(5000))).toHaveLength(5000);
  expect(() => parseQueries('#'.repeat(1_000_000))).toThrow(
    'name has 1000000 characters, and can have 20000. Give names, not the text of definitions.',
  );
});
