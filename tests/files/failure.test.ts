// How failures of the disk read.

import { expect, test } from 'vitest';
import { CallError } from '../../src/errors.ts';
import { fileFailure } from '../../src/files/failure.ts';

function textOf(code: string, done: 'read' | 'written' = 'written'): string {
  const failure = fileFailure(Object.assign(new Error('no'), { code }), 'a\n.txt', done);
  expect(failure).toBeInstanceOf(CallError);
  return (failure as Error).message;
}

test.each([
  ['EACCES', 'permission denied'],
  ['ENOSPC', 'no space is left on the device'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EROFS', 'the file system is read-only'],
  ['ENAMETOOLONG', 'the path or a name in it is too long'],
  ['EMFILE', 'too many files are open'],
  ['EIO', 'the system says EIO'],
])('%s: %s', (code, reason) => {
  expect(textOf(code)).toBe(`a<U+000A>.txt cannot be written: ${reason}.`);
  expect(textOf(code, 'read')).toBe(`a<U+000A>.txt cannot be read: ${reason}.`);
});

test.each(['ENOENT', 'ELOOP'])('%s comes from a change in the middle of a call', (code) => {
  expect(textOf(code)).toBe('a<U+000A>.txt changed while it was opened; nothing was written. Call again.');
});

test('what is no failure of the disk stays what it is', () => {
  for (const error of [new CallError('Told.'), new TypeError('A mistake.'), 'thrown']) {
    expect(fileFailure(error, 'a', 'read')).toBe(error);
  }
});
