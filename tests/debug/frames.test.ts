// Where the frames of an error are, and which of them are told.

import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();
const session = sharedSession({ args: ['--root', root.path] });

const write = root.put;

const TOTAL = `(defpackage :frames (:use :cl))
(in-package :frames)

(defun price (item)
  (list item
        (car item)))

(defun total (items)
  (let ((sum 0))
    #+nonsense (format t "~A" items)
    (dolist (item items sum)
      (incf sum (price item)))))
`;

test('a frame tells the line of the call in it', async () => {
  write('total.lisp', TOTAL);
  await session.call('load_file', { path: 'total.lisp' });
  const { text } = await session.call('eval_form', { form: '(frames::total (list 5))' });
  expect(text).toContain(
    '\n\nFrames:\n  0: (FRAMES::PRICE 5)  total.lisp:6:9\n  1: (FRAMES::TOTAL (5))  total.lisp:12:17',
  );
  const kept = await session.text('get_last_error', {});
  expect(kept).toContain('  0: (FRAMES::PRICE 5)  total.lisp:6:9\n       ITEM = 5\n');
  expect(await session.text('get_last_error', { frame: 1 })).toMatch(
    /^1: \(FRAMES::TOTAL \(5\)\) {2}total\.lisp:12:17\n/,
  );
});

test('a frame of a file that changed since says so', async () => {
  write('total.lisp', `;; more\n${TOTAL}`);
  const later = Date.now() / 1000 + 5;
  utimesSync(join(root.path, 'total.lisp'), later, later);
  const { text } = await session.call('eval_form', { form: '(frames::total (list 5))' });
  expect(text).toMatch(
    /0: \(FRAMES::PRICE 5\) {2}total\.lisp.* \(the file has changed since it was loaded; this form has not\)\n/,
  );
});

test('a load that fails tells the line of its top-level form', async () => {
  write(
    'fails.lisp',
    `(in-package :cl-user)\n(defvar *one* 1)\n(print *one*)\n\n(defvar *two*\n  (list 1 (error "Not two.")))\n`,
  );
  const { text } = await session.call('load_file', { path: 'fails.lisp' });
  expect(text).toContain('Error: Not two.\n');
  expect(text).toContain('\n\nFrames:\n  0: (#<top-level form>)  fails.lisp:6:11\n');
});

test('the function of SBCL that the program called is told', async () => {
  const { text } = await session.call('eval_form', {
    form: "(defun sorted (list) (list (sort list #'<))) (sorted (list 1 'a))",
  });
  expect(text).toMatch(/\n\nFrames:\n {2}0: \(SB-KERNEL:TWO-ARG-< .*\n/);
  expect(text).toMatch(/\n {2}\d: \(COMMON-LISP-USER::SORTED /);
});
