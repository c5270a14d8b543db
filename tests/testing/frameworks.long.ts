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
      told: '(is equal (basket 4) (basket 3)): got 3 at [1].cdr, wanted 4',
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
      told: '(equalp (basket 3) (basket 4)): got 3 and 4 at [1].cdr',
    },
    line: 6,
    test: upper,
    suites: ['checks'],
    checks: 4,
  },
  {
    name: 'lift',
    needs: 'lift',
    text: `(defpackage checks (:use cl lift shop))
(in-package checks)
(deftestsuite cart () ())
(addtest (cart) one (ensure-same 1 (total '((a . 1)))))
(addtest (cart) two (ensure-same 4 (total '((a . 1) (b . 2)))))
(addtest (cart) bad (princ "Looking.") (ensure-same 1 (total '((a . "x")))))
`,
    run: '(uiop:symbol-call :lift :run-tests :suite (uiop:find-symbol* :cart :checks))',
    failure: 'Ensure-same: 4 is not equal to 3',
    long: {
      text: "(addtest (cart) long (ensure-same (basket 4) (basket 3) :test 'equal))",
      told: 'Ensure-same: 4 is not EQUAL to 3 at [1].cdr',
    },
    home: 'LIFT',
    test: (name) => `CART.${upper(name)}`,
    suites: ['cart'],
  },
  {
    name: 'clunit2',
    needs: 'clunit2',
    text: `(defpackage checks (:use cl clunit shop))
(in-package checks)
(defsuite all ())
(deftest bad (all) (princ "Looking.") (assert-eql 1 (total '((a . "x")))))
(deftest two (all)
  (assert-eql 3 (total '((a . 1) (b . 2))))
  (assert-eql 4 (total '((a . 1) (b . 2)))))
(deftest one (all) (assert-eql 1 (total '((a . 1)))))
`,
    run: '(uiop:symbol-call :clunit :run-suite (uiop:find-symbol* :all :checks))',
    failure: "(eql 4 (total '((a . 1) (b . 2)))): got 3",
    long: {
      text: "(deftest long (all) (assert-equalp #.(list 'quote (basket 4)) (basket 3)))",
      told: '(equalp \'("aaaaaaaaaaaaaaaa... (basket 3)): got 3 at [1].cdr, wanted 4',
    },
    line: 7,
    home: 'CLUNIT',
    test: upper,
    suites: ['all'],
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
      told: '(assert-equalp (basket 4) (basket 3)): got 3 at [1].cdr, wanted 4',
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
      told: '= 3 at [1].cdr, wanted 4',
    },
    line: 6,
    error: '',
    test: upper,
    suites: [],
    checks: 4,
  },
  {
    name: 'try',
    needs: 'try',
    text: `(defpackage checks (:use cl try shop))
(in-package checks)
(deftest bad () (princ "Looking.") (is (= 1 (total '((a . "x"))))))
(deftest two ()
  (is (= 3 (total '((a . 1) (b . 2)))))
  (is (= 4 (total '((a . 1) (b . 2))))))
(deftest one () (is (= 1 (total '((a . 1))))))
`,
    run: '(uiop:symbol-call :try :try (find-package :checks))',
    failure: "(= 4 (total '((a . 1) (b . 2)))): got 3",
    long: {
      text: '(deftest long () (is (equalp (basket 3) (basket 4))))',
      told: '(equalp (basket 3) (basket 4)): got 3 and 4 at [1].cdr',
    },
    line: 6,
    home: 'TRY',
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
