// The same in frameworks that Debian lacks. LIVE_LISP_FRAMEWORKS is a folder with their sources and what they need.

import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testDialect } from './contract.ts';
import type { Dialect } from './workspaces.ts';

const FOLDER = process.env['LIVE_LISP_FRAMEWORKS'] ?? '';

const upper = (name: string) => name.toUpperCase();

const DIALECTS: readonly Dialect[] = [
  {
    name: 'parachute',
    needs: 'parachute',
    text: `(defpackage checks (:use cl shop) (:import-from parachute define-test is))
(in-package checks)
(define-test one (is = 1 (total '((a . 1)))))
(define-test two
  (is = 3 (total '((a . 1) (b . 2))))
  (is = 4 (total '((a . 1) (b . 2)))))
(define-test bad (princ "Looking.") (is = 1 (total '((a . "x")))))
`,
    run: '(uiop:symbol-call :parachute :test :checks)',
    failure: "(is = 4 (total '((a . 1) (b . 2)))): got 3",
    long: {
      text: '(define-test long (is equal (basket 4) (basket 3)))',
      reported: '(is equal (basket 4) (basket 3)): got 3 at [1].cdr, wanted 4',
    },
    home: 'PARACHUTE',
    test: upper,
    suites: [],
    checks: 4,
  },
  {
    name: 'rove',
    needs: 'rove',
    text: `(defpackage checks (:use cl rove shop))
(in-package checks)
(deftest one (ok (= 1 (total '((a . 1))))))
(deftest two
  (ok (= 3 (total '((a . 1) (b . 2)))))
  (ok (= 4 (total '((a . 1) (b . 2))))))
(deftest bad (princ "Looking.") (ok (= 1 (total '((a . "x"))))))
`,
    run: '(uiop:symbol-call :rove :run-suite :checks)',
    failure: "(= 4 (total '((a . 1) (b . 2)))): got 3",
    long: {
      text: '(deftest long (ok (equalp (basket 3) (basket 4))))',
      reported: '(equalp (basket 3) (basket 4)): got 3 and 4 at [1].cdr',
    },
    line: 6,
    test: upper,
    suites: ['checks'],
    checks: 4,
  },
  {
    name: 'lisp-unit2',
    needs: 'lisp-unit2',
    text: `(defpackage checks (:use cl lisp-unit2 shop))
(in-package checks)
(define-test one (:tags all) (assert-eql 1 (total '((a . 1)))))
(define-test two (:tags all)
  (assert-eql 3 (total '((a . 1) (b . 2))))
  (assert-eql 4 (total '((a . 1) (b . 2)))))
(define-test bad (:tags all) (princ "Looking.") (assert-eql 1 (total '((a . "x")))))
`,
    run: '(uiop:symbol-call :lisp-unit2 :run-tests :package :checks)',
    failure: "(assert-eql 4 (total '((a . 1) (b . 2)))): got 3",
    long: {
      text: '(define-test long (:tags all) (assert-equalp (basket 4) (basket 3)))',
      reported: '(assert-equalp (basket 4) (basket 3)): got 3 at [1].cdr, wanted 4',
    },
    home: 'LISP-UNIT2',
    test: upper,
    suites: ['all'],
    checks: 4,
  },
  {
    name: 'prove',
    needs: 'prove',
    text: `(defpackage checks (:use cl prove shop))
(in-package checks)
(deftest one (is (total '((a . 1))) 1))
(deftest two
  (is (total '((a . 1) (b . 2))) 3)
  (is (total '((a . 1) (b . 2))) 4))
(deftest bad (princ "Looking.") (is (total '((a . "x"))) 1))
`,
    run: '(uiop:symbol-call :prove :run-test-package :checks)',
    failure: '= 3, wanted 4',
    long: {
      text: '(deftest long (is (basket 3) (basket 4)))',
      reported: '= 3 at [1].cdr, wanted 4',
    },
    line: 6,
    error: '',
    test: upper,
    suites: [],
    checks: 4,
  },
];

/** Returns whether a folder below FOLDER has the definition of SYSTEM. */
function has(folder: string, system: string): boolean {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).some(
    (path) => basename(path) === `${system}.asd`,
  );
}

test('the folder has them all', () => {
  expect(
    existsSync(FOLDER),
    'Give LIVE_LISP_FRAMEWORKS a folder with the sources of frameworks, and of what they need.',
  ).toBe(true);
  const missing = DIALECTS.filter(({ needs }) => !has(FOLDER, needs)).map(({ needs }) => needs);
  expect(missing, `Put what is missing into ${FOLDER}.`).toEqual([]);
});

describe.each(existsSync(FOLDER) ? DIALECTS : [])('tests of $name', (dialect) => {
  testDialect(dialect, { CL_SOURCE_REGISTRY: `${join(FOLDER, '/')}/:` });
});
