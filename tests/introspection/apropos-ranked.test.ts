// apropos_search with ranked: the best match first, the user's packages before others, a line of documentation.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { sharedFolder, sharedSession } from '../shared.ts';
import { prepare } from './looks.ts';

const workspace = sharedFolder();
const elsewhere = sharedFolder();

const library = (name: string) => `(defpackage :${name} (:use :cl)
  (:export #:tally #:tally-words #:re-tally #:retallying #:take-all #:to-add-later #:|tally|))
(in-package :${name})
(defun tally (x) "Count X.

More of it." x)
(defun tally-words (x) x)
(defun re-tally (x) x)
(defun retallying (x) x)
(defclass take-all () () (:documentation "A class of ${name}."))
(defvar to-add-later 1 "   ${'Long '.repeat(40)}")
(defun to-assign-later (x) x)
`;

const session = sharedSession({ cwd: workspace.path });
beforeAll(async () => {
  mkdirSync(join(workspace.path, 'src'));
  writeFileSync(join(workspace.path, 'src', 'mine.lisp'), library('zz-mine'));
  elsewhere.put('theirs.lisp', library('aa-theirs'));
  expect(await session.text('load_file', { path: 'src/mine.lisp' })).toBe('Loaded src/mine.lisp');
  await prepare(session, `(load ${JSON.stringify(join(elsewhere.path, 'theirs.lisp'))})`);
});

const ranked = async (pattern: string, more: object = {}) => {
  const text = await session.text('apropos_search', { pattern, ranked: true, ...more });
  return text.split('\n').slice(2);
};

test('exact, prefix, word, substring, then initials; own packages first in each', async () => {
  expect(await ranked('tally')).toEqual([
    '  ZZ-MINE::TALLY [FUNCTION]  Count X.',
    '  ZZ-MINE::tally [SYMBOL]',
    '  AA-THEIRS::TALLY [FUNCTION]  Count X.',
    '  AA-THEIRS::tally [SYMBOL]',
    '  ZZ-MINE::TALLY-WORDS [FUNCTION]',
    '  AA-THEIRS::TALLY-WORDS [FUNCTION]',
    '  ZZ-MINE::RE-TALLY [FUNCTION]',
    '  AA-THEIRS::RE-TALLY [FUNCTION]',
    '  ZZ-MINE::RETALLYING [FUNCTION]',
    '  AA-THEIRS::RETALLYING [FUNCTION]',
  ]);
});

test.each([
  ['mvb', ['  COMMON-LISP::MULTIPLE-VALUE-BIND [MACRO]']],
  ['w-i-f-str', ['  COMMON-LISP::WITH-INPUT-FROM-STRING [MACRO]']],
  [
    'takea',
    [
      '  ZZ-MINE::TAKE-ALL [CLASS]  A class of zz-mine.',
      '  AA-THEIRS::TAKE-ALL [CLASS]  A class of aa-theirs.',
    ],
  ],
  // What is internal is found in one's own packages.
  ['toassla', ['  ZZ-MINE::TO-ASSIGN-LATER [FUNCTION]']],
  // Slips of typing.
  ['retalyling', ['  ZZ-MINE::RETALLYING [FUNCTION]', '  AA-THEIRS::RETALLYING [FUNCTION]']],
  ['xq', []],
])('%s finds beginnings of words, or misspelled names', async (pattern, rows) => {
  const found = (await ranked(pattern)).map((row) => row.replace(/(::MULTIPLE.*|::WITH-IN.*)\].*/, '$1]'));
  expect(found.filter((row) => row !== '')).toEqual(rows);
});

test('what is one’s own comes first, then SBCL’s internals last, whatever the number of words', async () => {
  await prepare(
    session,
    `(defpackage :typed-mvb (:use :cl)) (in-package :typed-mvb)
     (defun my-very-long-and-winding-build () 1) (deftype my-vast-bytes () "Bytes." 'integer)
     (defun (setf my-view-base) (new) "Sets." new)
     (in-package :cl-user)`,
  );
  expect(await ranked('mvb')).toEqual([
    '  TYPED-MVB::MY-VIEW-BASE [SYMBOL]  Sets.',
    '  TYPED-MVB::MY-VAST-BYTES [SYMBOL]  Bytes.',
    '  TYPED-MVB::MY-VERY-LONG-AND-WINDING-BUILD [FUNCTION]',
    '  COMMON-LISP::MULTIPLE-VALUE-BIND [MACRO]',
  ]);
  const wof = await ranked('wof', { limit: 3 });
  expect(wof[0]).toMatch(/^ {2}COMMON-LISP::WITH-OPEN-FILE /);
});

test('a package before a colon is searched alone', async () => {
  expect(await ranked('zz-mine:tally-w')).toEqual(['  ZZ-MINE::TALLY-WORDS [FUNCTION]']);
  expect(await ranked('cl::mvb')).toEqual(['  COMMON-LISP::MULTIPLE-VALUE-BIND [MACRO]']);
  expect(await ranked('no-package:tally')).toEqual(['']);
});

test('a long first line of documentation is cut', async () => {
  expect((await ranked('to-add-later', { limit: 1 }))[0]).toBe(
    `  ZZ-MINE::TO-ADD-LATER [VARIABLE]  ${'Long '.repeat(40).slice(0, 117)}...`,
  );
});

test('with a package, a type, a limit', async () => {
  expect(await ranked('tally', { package: 'aa-theirs', type: 'function', limit: 2, offset: 1 })).toEqual([
    '  AA-THEIRS::TALLY-WORDS [FUNCTION]',
    '  AA-THEIRS::RE-TALLY [FUNCTION]',
    '  ...',
  ]);
  expect(await session.text('apropos_search', { pattern: 'x', package: 'nope', ranked: true })).toBe(
    'Package nope not found',
  );
});

test('S0.4 S0.19 odd patterns find what they are, and nothing is interned', async () => {
  for (const pattern of ['~a', '.*', '-', '**', 'a'.repeat(5000), '\u{1f600}', 'straße', '', ' ']) {
    const { isError, text } = await session.call('apropos_search', { pattern, ranked: true, limit: 1 });
    expect(isError, text).toBe(false);
    expect(text).toMatch(/^Found \d+ symbols? matching '/);
  }
  await ranked('never-seen-name');
  expect(await session.eval('(find-symbol "NEVER-SEEN-NAME")')).toBe('NIL\nNIL');
});
