// What run_tests knows of the tests that ran before.

import { expect, test } from 'vitest';
import { TestMemory } from '../../src/tools/tests/memory.ts';
import { goneLine } from '../../src/tools/tests/run-text.ts';

const bad = (name: string) => ({ framework: 'FIVEAM', test: name, failed: 1 });

test('what failed is told for a system, with tests of which it is not known whose they are', () => {
  const memory = new TestMemory();
  memory.keep(
    [
      { ...bad('APP::A'), systems: ['app/tests', 'app'] },
      { ...bad('LIB::A'), systems: ['lib'] },
    ],
    ['app', 'lib'],
  );
  memory.keep([bad('APP::A'), bad('OTHER::A')], []);
  expect(memory.failed('app')).toEqual(['APP::A', 'OTHER::A']);
  expect(memory.failed('app/tests')).toEqual(['APP::A', 'OTHER::A']);
  expect(memory.failed('lib')).toEqual(['LIB::A', 'OTHER::A']);
  expect(memory.failed()).toEqual(['APP::A', 'LIB::A', 'OTHER::A']);
});

test('tests that no framework has by name are told, with what to do', () => {
  expect(goneLine([])).toBe('');
  expect(goneLine(['file.lisp'])).toBe(
    'Tests that no framework has: file.lisp. To run an unnamed check, test its system.',
  );
});
