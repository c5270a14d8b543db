// How failures of the disk read, and how characters that hide others are shown.

import { expect, test } from 'vitest';
import { CallError } from '../../src/errors.ts';
import { fileFailure } from '../../src/files/failure.ts';
import { visible, visibleName } from '../../src/visible.ts';

function textOf(code: string, done: 'read' | 'written' = 'written'): string {
  const failure = fileFailure(Object.assign(new Error('no'), { code }), 'a\n.txt', done);
  expect(failure).toBeInstanceOf(CallError);
  return (failure as Error).message;
}

test.each([
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['ENOSPC', 'no space is left on the device'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EROFS', 'the file system is read-only'],
  ['ENAMETOOLONG', 'the path or a name in it is too long'],
  ['EMFILE', 'too many files are open'],
  ['ENFILE', 'too many files are open'],
  ['EIO', 'the system says EIO'],
])('%s: %s', (code, reason) => {
  expect(textOf(code)).toBe(`a<U+000A>.txt cannot be written: ${reason}.`);
  expect(textOf(code, 'read')).toBe(`a<U+000A>.txt cannot be read: ${reason}.`);
});

test.each(['ENOENT', 'ENOTDIR', 'ELOOP', 'ESTALE', 'EISDIR'])(
  '%s comes from a change in the middle of a call',
  (code) => {
    expect(textOf(code)).toBe('a<U+000A>.txt changed while it was opened; nothing was written. Call again.');
  },
);

test('what is no failure of the disk stays what it is', () => {
  for (const error of [new CallError('Told.'), new TypeError('A mistake.'), 'thrown']) {
    expect(fileFailure(error, 'a', 'read')).toBe(error);
  }
});

test.each([
  ['\u202e\u2066', '<U+202E><U+2066>'],
  ['\0\u001b\r\u007f\u0085', '<U+0000><U+001B><U+000D><U+007F><U+0085>'],
  ['\u200b\u00ad\ufeff\u2060', '<U+200B><U+00AD><U+FEFF><U+2060>'],
  ['\u2028\u2029', '<U+2028><U+2029>'],
  ['\u3164\u115f\u034f', '<U+3164><U+115F><U+034F>'],
  ['\u00a0\u1680\u2003\u202f\u3000', '<U+00A0><U+1680><U+2003><U+202F><U+3000>'],
  ['\u2800', '<U+2800>'],
  ['a b ', 'a b '],
  ['\ud800', '<U+D800>'],
  ['\u{e0041}', '<U+E0041>'],
  ['λ 😀 é', 'λ 😀 é'],
])('%j is shown as %s', (text, shown) => {
  expect([visible(text), visibleName(text)]).toEqual([shown, shown]);
});

test('line ends and tabs stay in a text, and not in a name', () => {
  expect([visible('a\n\tb'), visibleName('a\n\tb')]).toEqual(['a\n\tb', 'a<U+000A><U+0009>b']);
});
