// Source files as editors write them: line ends, encodings, byte order marks.

import { describe, expect, test } from 'vitest';
import type { Answer } from '../harness.ts';
import { good } from '../harness.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();
const session = sharedSession({ args: ['--root', root.path] });

/** Writes TEXT as the file NAME, loads it and returns the answer. */
function loadText(name: string, text: string | Buffer): Promise<Answer> {
  root.put(name, text);
  return session.call('load_file', { path: name });
}

describe('a file', () => {
  test('empty, or without a last line end', async () => {
    expect(await loadText('empty.lisp', '')).toEqual(good('Loaded empty.lisp'));
    expect(await loadText('no-end.lisp', '(defun no-end () 1)')).toEqual(good('Loaded no-end.lisp'));
    expect(await session.eval('(no-end)')).toBe('1');
  });

  test('with CRLF line ends: loaded, with the right lines', async () => {
    const { text } = await loadText(
      'crlf.lisp',
      '(defun crlf ()\r\n  1)\r\n\r\n(defun drops-crlf (x)\r\n  1)\r\n',
    );
    expect(text).toMatch(/^Loaded crlf\.lisp\n[\s\S]*\(line 4:1, DEFUN DROPS-CRLF\)/);
    expect(await session.eval('(crlf)')).toBe('1');
  });

  test('with a byte order mark: loaded as if it were not there', async () => {
    const answer = await loadText('bom.lisp', '\ufeff(defun bom () :loaded)\n');
    expect(answer).toEqual(good('Loaded bom.lisp'));
    expect(await session.eval('(bom)')).toBe(':LOADED');
  });

  test('in Latin-1: loaded, or refused with a text that names the encoding', async () => {
    const { text, isError } = await loadText(
      'latin1.lisp',
      Buffer.from('(defun latin1 () "grüße")\n', 'latin1'),
    );
    expect(isError ? text : await session.eval('(latin1)')).toMatch(/"grüße"|utf-?8/i);
  });

  test('that are no Lisp at all: refused', async () => {
    const { text, isError } = await loadText(
      'picture.png',
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0]),
    );
    expect(isError).toBe(true);
    expect(text.length).toBeLessThan(5000);
  });
});

test('what was loaded before a form that fails keeps its places', async () => {
  const text = `; A comment.
(defun before-failure (x)
  (list x))
#+(or) (skipped)
(defstruct kept-point a)

(defun uses-before (y)
  (before-failure y))

(defmethod print-object ((point kept-point) stream) (uses-before stream))

(defvar *failing* (error "no"))
`;
  expect((await loadText('failing.lisp', text)).isError).toBe(true);
  expect(await session.text('describe_symbol', { symbol: 'uses-before' })).toContain(
    'Defined: failing.lisp:7:1',
  );
  const calls = await session.text('who_calls', { name: 'before-failure', sites: true });
  expect(calls).toContain('failing.lisp:8:3  (before-failure y))');
  expect(await session.text('who_calls', { name: 'uses-before', sites: true })).toContain(
    'failing.lisp:10:53',
  );
});
