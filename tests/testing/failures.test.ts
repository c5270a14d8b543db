// How failures read: what a check says once, and what it does not say again.

import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, expect, test } from 'vitest';
import { LIBRARIES_AS_COMPILED } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { sharedFolder, sharedSession } from '../shared.ts';
import { write } from './workspaces.ts';

libraries('fiveam');

const CHECKS = `(defpackage checks (:use cl))
(in-package checks)
(defvar *limit* 5)
(define-condition too-much (error) ((part :initarg :part)) (:report (lambda (c s) (format s "~S is too much." (slot-value c 'part)))))
(defun same (n) n)
(5am:def-suite forms)
(5am:in-suite forms)
(5am:test values-of-arguments
  (5am:is (evenp (same 3)))
  (5am:is (not (= 3 (same 3))))
  (5am:is (= *limit* (same 3)))
  (5am:is (equal (values 1 2) (floor 7 2)))
  (5am:is (= 1 2)))
(5am:test words-of-the-author
  (5am:is (= *limit* (same 3)) "The limit is ~A." (1+ *limit*))
  (5am:is (same nil) "No more.")
  (5am:is-false (same 'word))
  (5am:signals too-much (same 1))
  (5am:fail "Not so.")
  (5am:fail))
(5am:test in-a-loop
  (dolist (n '(1 2 3)) (5am:is (= 9 (same n))))
  (dolist (n '(1 2)) (5am:is (< n *limit* 2))))
(5am:test an-error (error 'too-much :part 'word))
(5am:test a-name (5am:is (eq 'x (same 'y))) (let ((x 'y)) (5am:is (eq x 'x))))
(5am:test long-form (5am:is (equal '(${'word '.repeat(60)}) (same 1))))
`;

const root = sharedFolder();
beforeAll(() => {
  write(join(root.path, 'inner'), { 'checks.lisp': CHECKS });
  write(root.path, {
    'checks.asd': `(defsystem "checks" :depends-on ("fiveam") :pathname "inner" :components ((:file "checks"))
  :perform (test-op (o c) (uiop:symbol-call :fiveam :run! (uiop:find-symbol* :forms :checks))))
`,
  });
});
const session = sharedSession({ args: ['--root', root.path, ...LIBRARIES_AS_COMPILED] });

test('a check is told with the values that its form does not say, once', async () => {
  const { text } = await session.call('run_tests', {});
  expect(text.split('\n').slice(1)).toEqual([
    '  VALUES-OF-ARGUMENTS inner/checks.lisp:8: (evenp (same 3)): got 3',
    '    (not (= 3 (same 3))): got 3',
    '    (= *limit* (same 3)): got 5 and 3',
    '    (equal (values 1 2) (floor 7 2)): got (1 2) and (3 1)',
    '    (= 1 2) failed',
    '  WORDS-OF-THE-AUTHOR checks.lisp:14: The limit is 6.: (= *limit* (same 3)) failed',
    '    No more.: (same nil) failed',
    "    (same 'word) returned the value word, which is true",
    '    Failed to signal a too-much',
    '    Not so.',
    '    failed',
    '  IN-A-LOOP checks.lisp:21: (= 9 (same n)): got 1',
    '    got 2',
    '    got 3',
    '    (< n *limit* 2) was NIL.',
    '    1 more of this check',
    '  AN-ERROR checks.lisp:24: TOO-MUCH: WORD is too much.',
    "  A-NAME checks.lisp:25: (eq 'x (same 'y)): got y",
    "    (eq x 'x): got y",
    "  LONG-FORM checks.lisp:26: (equal '(word word word wo... (same 1)): got 1",
  ]);
  // The goal is 40 for a failure.
  expect(countTokens(text)).toBeLessThan(20 * 25);
});
