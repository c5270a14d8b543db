// In which order the warnings of a load are told.

import { expect, test } from 'vitest';
import type { Warning } from '../../src/image/wire/operations.ts';
import { Places } from '../../src/tools/places.ts';
import { groupedWarnings } from '../../src/tools/remarks.ts';
import { ownFolder } from '../shared.ts';

test('those of a file stand as in the file, also where those of another come between', () => {
  const root = ownFolder();
  const at = (file: string, offset: number, severity: Warning['severity'] = 'warning'): Warning => ({
    severity,
    text: `${offset}`,
    file: `${root.path}/${file}`,
    offset,
  });
  const warnings = [at('a.lisp', 9), at('b.lisp', 5), at('a.lisp', 3), at('b.lisp', 8, 'error')];
  expect(groupedWarnings({ warnings }, new Places(root.path))).toBe(
    'Warnings (4):\n  b.lisp\n    ERROR: 8\n    WARNING: 5\n  a.lisp\n    WARNING: 3\n    WARNING: 9',
  );
});

test('one of which no place is known stands with others that say the same', () => {
  const warnings: Warning[] = [
    { severity: 'warning', text: 'Odd.', file: '/a.lisp' },
    { severity: 'warning', text: 'Odd.', file: '/a.lisp', definition: 'DEFUN F' },
  ];
  expect(groupedWarnings({ warnings }, new Places('/'))).toBe(
    'Warnings (2):\n  a.lisp\n    WARNING (DEFUN F, 2 times): Odd.',
  );
});
