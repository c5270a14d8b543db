// Texts that cannot be read, or only just.

import type { Group } from '../case.ts';

export const READING: Group = {
  title: 'Texts that cannot be read',
  cases: [
    { name: 'circular source', form: '(list . #1=(1 2 . #1#))', says: /^Error: / },
    { name: '#999999999(1)', form: '#999999999(1)', says: /^Error: / },
    {
      name: 'an integer of a million digits',
      form: `(integer-length ${'9'.repeat(100_000)})`,
      succeeds: true,
      says: /^332193$/,
      seconds: 5,
    },
    { name: 'an exponent that takes for ever to read', form: '1e-999999999', says: /^0\.0$/, succeeds: true },
  ],
};
