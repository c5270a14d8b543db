// A library loads as before, and passes its own tests, when some of its functions have other names.

import { expect, test } from 'vitest';
import { libraries } from '../libraries.ts';
import { renameFunctions } from './library.ts';

libraries('parse-number');

test('functions of a library get other names', async () => {
  const library = {
    folder: 'parse-number',
    systems: ['parse-number', 'parse-number/tests'],
    package: 'PARSE-NUMBER',
  };
  const { renamed, troubled, before, after } = await renameFunctions(library, 3, 1);
  expect(troubled).toEqual([]);
  expect(after).toEqual(before);
  expect(renamed).toHaveLength(3);
});
