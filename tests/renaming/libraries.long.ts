// A hundred random functions of libraries with tests of their own get other names: `make check-long`.

import { expect, test } from 'vitest';
import { libraries } from '../libraries.ts';
import { renameFunctions } from './library.ts';

libraries('alexandria', 'esrap', 'cl-ppcre', 'fiveam', 'iterate', 'flexi-streams');

const LIBRARIES = [
  { folder: 'alexandria', systems: ['alexandria', 'alexandria-tests'], package: 'ALEXANDRIA-1' },
  { folder: 'esrap', systems: ['esrap', 'esrap/tests'], package: 'ESRAP' },
  { folder: 'cl-ppcre', systems: ['cl-ppcre', 'cl-ppcre/test'], package: 'CL-PPCRE', text: true },
  { folder: 'fiveam', systems: ['fiveam', 'fiveam/test'], package: 'IT.BESE.FIVEAM' },
  { folder: 'iterate', systems: ['iterate', 'iterate/tests'], package: 'ITERATE' },
  { folder: 'cl-flexi-streams', systems: ['flexi-streams', 'flexi-streams-test'], package: 'FLEXI-STREAMS' },
];

test.each(LIBRARIES)('20 functions of $folder', async (library) => {
  const { renamed, refused, troubled, before, after } = await renameFunctions(library, 20, 7);
  expect(troubled).toEqual([]);
  expect(after, refused.join('\n')).toEqual(before);
  expect(renamed.length, refused.join('\n')).toBe(20);
});
