// What run_tests knows of the tests that ran before.

import { expect, test } from 'vitest';
import { TestMemory } from '../../src/tools/tests/memory.ts';
import { goneLine } from '../../src/tools/tests/run-text.ts';

const good = (name: string) => ({ framework: 'FIVEAM', test: name });
const bad = (name: string) => ({ framework: 'FIVEAM', test: name, failed: 1 });

test('nothing is known before tests ran', () => {
  expect(new TestMemory().failed()).toBeUndefined();
});

test('a test that failed stays known until it passes, also when it has no name of its own', () => {
  const memory = new TestMemory();
  memory.keep([bad('file.lisp'), bad('APP::B'), good('APP::C')], ['app']);
  expect(memory.failed()).toEqual(['file.lisp', 'APP::B']);
  expect(memory.keep([good('APP::B')], [])).toEqual({
    broken: [],
    fixed: ['APP::B'],
    fresh: [],
    missing: [],
  });
  expect(memory.failed()).toEqual(['file.lisp']);
  memory.keep([good('file.lisp'), good('APP::B'), good('APP::C')], ['app']);
  expect(memory.failed()).toEqual([]);
});

test('a test that does not run with its systems any more is no more; those of others are kept', () => {
  const memory = new TestMemory();
  memory.keep([bad('APP::A'), bad('APP::B')], ['app']);
  memory.keep([bad('LIB::A')], ['lib']);
  expect(memory.keep([bad('APP::A'), good('APP::D')], ['app'])).toEqual({
    broken: [],
    fixed: [],
    fresh: ['APP::D'],
    missing: ['APP::B'],
  });
  expect(memory.failed()).toEqual(['APP::A', 'LIB::A']);
});

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
    'Tests that no framework knows: file.lisp. To run a check without a name of its own, test its system.',
  );
});
