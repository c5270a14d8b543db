// Tests see when an answer is not as the operation declares it in lisp/.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answerProblem, readDeclared } from '../declared.ts';
import { PROJECT } from '../harness.ts';

const declared = readDeclared(join(PROJECT, 'dist-tests'));

test.each([
  ['progress', { value: { characters: 1 } }, undefined],
  ['progress', { value: { characters: 'a' } }, 'progress.value.characters is no integer: "a"'],
  ['progress', { value: { octets: 1 } }, 'progress.value.octets is not declared'],
  ['spent', { value: { ran: 1, waited: 0 } }, 'spent.value.ready is missing'],
  ['system-files', { value: ['a', 1] }, 'system-files.value[1] is no string: 1'],
  ['evaluate', { values: [[{ text: '1' }]], package: 'P', output: { text: '' } }, undefined],
  ['evaluate', { output: 'a' }, 'evaluate.output is no object'],
  [
    'describe',
    { value: { failure: 'no-package' } },
    'describe.value.failure is not declared, or describe.value.package is missing, or describe.value.failure is none of no-symbol: no-package, or describe.value.failure is none of no-class: no-package, or describe.value.failure is none of no-system: no-package',
  ],
  // The call that a held error has stopped goes on, whatever it was.
  ['debug-go', { phase: 'load', value: { file: 'a.lisp' } }, undefined],
  ['debug-look', { phase: 'load' }, 'debug-look.phase is not declared'],
])('an answer to %s with %j', (operation, answer, problem) => {
  expect(answerProblem(operation, answer, declared)).toBe(problem);
});
