// Places in files that another file or system loaded: they are told as loaded, and found again after an edit.

import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';

const BELOW = `(defpackage :below (:use :cl) (:export #:price))
(in-package :below)
(defun price (x) (* 2 x))
(defclass kept () ((slot :initform (price 3))))
`;

const folder = temporaryFolder();
let session: Session;
let seconds = 0;
beforeAll(async () => {
  write('below.asd', '(defsystem "below" :components ((:file "below")))');
  write(
    'above.asd',
    '(defsystem "above" :depends-on ("below") :perform (test-op (o c) (assert (= 4 (symbol-call :below :price 2)))))',
  );
  write('below.lisp', BELOW);
  write('all.lisp', '(load (merge-pathnames "below.lisp" *load-truename*))');
  session = await startSession({ args: ['--root', folder.path] });
});
afterAll(async () => {
  await session.close();
  folder.remove();
});

/** Writes TEXT to the file NAME, at a later date than any file before. */
function write(name: string, text: string): void {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  seconds += 10;
  utimesSync(path, 1_700_000_000 + seconds, 1_700_000_000 + seconds);
}

const kept = async () =>
  (await session.text('describe_symbol', { symbol: 'below::kept' })).match(/Defined: (.*)/)?.[1];

test.each([
  ['load_system of a system above', 'load_system', { system: 'above' }],
  ['run_tests of a system above', 'run_tests', { system: 'above' }],
  ['load_file of a file that loads it', 'load_file', { path: 'all.lisp' }],
  ['eval_form', 'eval_form', { form: '(load "below.lisp")' }],
] as const)('%s', async (_, tool, args) => {
  write('below.lisp', BELOW);
  await session.text('load_system', { system: 'above' });
  write('below.lisp', BELOW.replace('(defun', '\n(defun').replace('2 x', 'x 2'));
  expect(await kept()).toBe('below.lisp:5:1 (the file changed since it was loaded, but not here)');
  await session.text(tool, args);
  expect(await kept()).toBe('below.lisp:5:1');
  write('below.lisp', BELOW.replace('(defun', '\n\n(defun'));
  expect(await kept()).toBe('below.lisp:6:1 (the file changed since it was loaded, but not here)');
});

test('a file that is edited while it is loaded is not taken for loaded', async () => {
  write('below.lisp', `${BELOW}(load "edit.lisp")\n`);
  write(
    'edit.lisp',
    `(with-open-file (out "below.lisp" :direction :output :if-exists :supersede)
  (write-string "\n${BELOW}" out))`,
  );
  await session.text('load_file', { path: 'all.lisp' });
  expect(await kept()).toBe('below.lisp:5:1 (the file changed since it was loaded, but not here)');
});
