// What test frameworks keep of a form, as a function or as data, is told as a use of that form: C31, S3.17.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { LIBRARIES_AS_COMPILED } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

libraries('fiveam', 'rt');

const folder = sharedFolder();
const FILES = {
  'made.asd': `(defsystem "made" :components ((:file "code")) :in-order-to ((test-op (test-op "made/fiveam"))))
(defsystem "made/fiveam" :depends-on ("made" "fiveam") :components ((:file "suite"))
  :perform (test-op (o c) (symbol-call :fiveam :run! (find-symbol* :made :made-suite))))
(defsystem "made/rt" :depends-on ("made" "rt") :components ((:file "regression"))
  :perform (test-op (o c) (symbol-call :rt :do-tests)))`,
  'tests/apart.asd': `(defsystem "apart" :depends-on ("made") :components ((:file "apart"))
  :perform (test-op (o c) (symbol-call :made-apart :run)))`,
  'tests/apart.lisp': `(defpackage :made-apart (:use :cl) (:export #:run))
(in-package :made-apart)
(defun run () (assert (= 1 (made::lone 1))))`,
  'code.lisp': `(defpackage :made (:use :cl))
(in-package :made)
(defun inner (x) (1+ x))
(defun outer (x) (inner x))
(defun alone (x) x)
(defun lone (x) x)
(defun made-later (name) (funcall (compile nil (list 'lambda () (list 'setf (list 'get (list 'quote name) ''made) '#'inner)))))
(made-later 'first)`,
  'suite.lisp': `(defpackage :made-suite (:use :cl :made :fiveam))
(in-package :made-suite)
(def-suite made) (in-suite made)
(test calls-inner (is (= 2 (made::inner 1))))
(test calls-outer
  (is (= 3 (made::outer 2))))
(test calls-neither (is (= 2 2)))`,
  'regression.lisp': `(defpackage :made-rt (:use :cl :rt))
(in-package :made-rt)
(deftest inner-as-data (made::inner 1) 2)
(deftest other (+ 1 1) 2)
(defun helper () 1)`,
};

beforeAll(() => {
  mkdirSync(join(folder.path, 'tests'));
  for (const [name, text] of Object.entries(FILES)) folder.put(name, text);
});
const session = sharedSession({ cwd: folder.path, args: [...LIBRARIES_AS_COMPILED] });
beforeAll(async () => {
  for (const system of ['made/fiveam', 'made/rt', 'apart'])
    expect(await session.text('load_system', { system })).toContain(`Loaded system ${system}`);
  // What is left of these files is data; no code is.
  await session.eval('(sb-ext:gc :full t)');
});

test('a function that a file makes of data while it is loaded is told by the form with that data', async () => {
  expect(await session.text('who_calls', { name: 'made::outer', sites: true })).toBe(
    `Other places that call MADE::OUTER:

  MADE-SUITE::CALLS-OUTER (test)
    suite.lisp:6:12  (is (= 3 (made::outer 2))))`,
  );
  expect(await session.text('who_calls', { name: 'made::inner' })).toBe(
    `Functions that call MADE::INNER:

  MADE::OUTER

Other places that call MADE::INNER:

  MADE-SUITE::CALLS-INNER (test)

Possible callers:

  MADE::MADE-LATER
  MADE-RT::INNER-AS-DATA (deftest)`,
  );
});

test('tests that reach a function are told one by one, also those that have it as data', async () => {
  const reach = async (name: string) =>
    (await session.text('impact_of_change', { name })).split('\n\n').at(-2);
  expect(await reach('made::inner')).toBe(
    `Tests that reach it (3):
  regression.lisp:3:1  (deftest inner-as-data (made::inner 1) 2)
  suite.lisp:4:1  (test calls-inner (is (= 2 (made::inner 1))))
  suite.lisp:5:1  (test calls-outer`,
  );
  expect(await reach('made::alone')).toBe('No test is known to reach it.');
  expect(await reach('made::lone')).toBe(
    'Tests that reach it (1):\n  tests/apart.lisp:3:1  (defun run () (assert (= 1 (made::lone 1))))',
  );
});

test('calls in files of which no code is left are found', async () => {
  expect(await session.text('impact_of_change', { name: 'made::outer', lambda_list: '(x y)' })).toContain(
    'suite.lisp:6:12  (is (= 3 (made::outer 2))))  [1 argument, at least 2 needed]',
  );
});

test('a form that asks of names in its data is no user of them, and garbage is collected once for all it asks', async () => {
  await session.eval('(defun made::asked () 1)');
  await session.eval('(progn (defparameter made::*kept* nil "What is kept.") 1)');
  await session.eval('(push (lambda () (made::asked)) made::*kept*)');
  const asking = `(let ((epochs '()))
    (dolist (name '(made::asked made::alone made::asked made::outer made::asked made::asked))
      (print (live-lisp:call-tool "who_calls" :name (format nil "~S" name)))
      (funcall (lambda () name))
      (pushnew sb-kernel::*gc-epoch* epochs :test #'eq))
    (length epochs))`;
  const { text } = await session.call('eval_form', { form: asking, timeout: 600 });
  expect(text).not.toContain('DOLIST');
  expect(Number.parseInt(text, 10)).toBeLessThan(4);
  expect(await session.text('who_calls', { name: 'made::asked' })).toContain('anonymous function');
});
