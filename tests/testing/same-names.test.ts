// Tests that are called as the functions that they test, whose package their own package uses.

import { beforeAll, expect, test } from 'vitest';
import { LIBRARIES_AS_COMPILED } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { sharedFolder, sharedSession } from '../shared.ts';
import { write } from './workspaces.ts';

libraries('fiveam', 'rt');

const FILES = {
  'bank.asd': `(defsystem "bank" :components ((:file "bank")))
(defsystem "bank/tests" :depends-on ("bank" "fiveam") :components ((:file "tests"))
  :perform (test-op (o c) (symbol-call :fiveam :run! (find-symbol* :suite :bank-tests))))
(defsystem "bank/regressions" :depends-on ("bank" "rt") :components ((:file "regressions"))
  :perform (test-op (o c) (symbol-call :rt :do-tests)))
`,
  'bank.lisp': `(defpackage bank (:use cl) (:export balance fee rate))
(in-package bank)
(defmacro define-rule (name parameters &body body) \`(defun ,name ,parameters ,@body))
(defun fee (x) (* x 2))
(defun balance (x)
  (- x (fee x)))
(define-rule rate (x) (fee x))
`,
  'tests.lisp': `(defpackage bank-tests (:use cl bank fiveam))
(in-package bank-tests)
(def-suite suite)
(in-suite suite)
(test balance (is (= 5 (balance 10))))
(test fee
  (is (= 21 (fee 10))))
(test rate (is (= 1 (rate 1))))
(test random (is (= 1 (random 1))))
`,
  'regressions.lisp': `(defpackage bank-regressions (:use cl rt))
(in-package bank-regressions)
(deftest bank:rate (bank:rate 4) 9)
`,
};

const root = sharedFolder();
beforeAll(() => {
  write(root.path, FILES);
});
const session = sharedSession({ args: ['--root', root.path, ...LIBRARIES_AS_COMPILED] });

const text = async (tool: string, args: Record<string, unknown>) =>
  (await session.call(tool, args)).text.replace(/\d+\.\d s\)/g, 'N s)');

test('failures are told at the forms of the tests, and the functions are measured', async () => {
  expect(await text('run_tests', { coverage: true })).toBe(
    `bank/regressions, bank/tests: 5 of 5 tests fail (N s).
  BANK::RATE regressions.lisp:3: (rate 4) = 8, wanted 9
  BANK::BALANCE tests.lisp:5: (= 5 (balance 10)): got -10
  BANK::FEE tests.lisp:6: (= 21 (fee 10)): got 20
  BANK::RATE tests.lisp:8: (= 1 (rate 1)): got 2
  COMMON-LISP::RANDOM tests.lisp:9: (= 1 (random 1)): got 0

Coverage: 3 of 3 definitions ran, 3 of them wholly.`,
  );
  expect(await text('run_tests', { touching: 'bank:balance' })).toContain(
    'Tests that reach BANK::BALANCE: 1 of 1 test fails',
  );
});

test.each(['bank-tests::balance', 'bank:balance'])('a test is found as %s', async (name) => {
  expect(await text('run_tests', { test: name })).toContain(
    `${name}: 1 of 1 test fails (N s).\n  BALANCE tests.lisp:5: (= 5 (balance 10)): got -10`,
  );
});

test('a package has the tests whose names it only inherits', async () => {
  expect(await text('run_tests', { package: 'bank-tests' })).toContain(
    '\n  BANK::BALANCE tests.lisp:5: (= 5 (balance 10)): got -10\n',
  );
});

test('a test of RT whose name is a list is found and named alike in each package', async () => {
  await session.eval('(rt:deftest (bank-regressions::sum 2) (+ 1 1) 3)');
  for (const current of ['cl-user', 'bank-regressions']) {
    await session.eval(`(cl:in-package :${current})`);
    for (const test of ['(sum 2)', '(BANK-REGRESSIONS::SUM 2)'])
      expect(await text('run_tests', { test })).toBe(
        `${test}: 1 of 1 test fails (N s).\n  (bank-regressions::sum 2): (+ 1 1) = 2, wanted 3`,
      );
    expect(await text('run_tests', { package: 'bank-regressions' })).toContain(
      '\n  (bank-regressions::sum 2): (+ 1 1) = 2, wanted 3',
    );
  }
  await session.eval("(cl:in-package :cl-user) (rt:rem-test '(bank-regressions::sum 2))");
});

test('the frame of a test that was compiled during a load has no path in its name', async () => {
  write(root.path, { 'late.lisp': '(fiveam:def-test bank-tests::late () (error "Late."))\n' });
  await text('load_file', { path: 'late.lisp' });
  const held = await text('run_tests', { test: 'late', on_error: 'hold' });
  expect(held).toMatch(/\n {2}0: \(\(LABELS \S+::%TEST-LATE :IN "late\.\w+"\)\)/);
  await text('debug', { error: Number(/Held as error (\d+)/.exec(held)?.[1]), end: true });
  await session.eval("(fiveam:rem-test 'bank-tests::late)");
});

test('a name of several tests is told without loading anything', async () => {
  write(root.path, {
    'side.asd': '(defsystem "side" :components ((:file "side")) :perform (test-op (o c)))\n',
    'side.lisp': '(defvar cl-user::*side* t)\n',
  });
  await session.eval('(fiveam:def-test bank-tests::two () t) (fiveam:def-test bank-regressions::two () t)');
  expect(await text('run_tests', { test: 'two' })).toMatch(
    /^two names several tests: .*two, .*two\. Nothing ran; give one of these\.$/i,
  );
  expect(await session.eval("(boundp 'cl-user::*side*)")).toBe('NIL');
  await session.eval("(fiveam:rem-test 'bank-tests::two) (fiveam:rem-test 'bank-regressions::two)");
});

test('the name of a test is no call of what it tests', async () => {
  expect(await text('who_calls', { name: 'bank:fee', sites: true })).toContain(
    `Other places that call BANK::FEE:

  top-level form at tests.lisp:6
    tests.lisp:7:13  (is (= 21 (fee 10))))`,
  );
});

test('the form of a test is read by its operator, or as of the kind test', async () => {
  const balance = (found: string) => `tests.lisp:5  ${found}\n\n(test balance (is (= 5 (balance 10))))`;
  expect(await text('read_definition', { name: 'bank:balance', kind: 'test' })).toBe(
    balance('bank:balance (found by its name in the file, in package bank-tests)'),
  );
  expect(await text('read_definition', { name: '(test bank:balance)' })).toBe(
    balance('bank:balance (found by its name in the file, in package bank-tests)'),
  );
  expect(await text('read_definition', { name: '(defun bank:balance)' })).toContain(
    'bank.lisp:5-6  BANK::BALANCE',
  );
});

test('a failure or an error is told, also where FiveAM is to open the debugger', async () => {
  await session.eval('(setf fiveam:*on-failure* :debug fiveam:*on-error* :debug)');
  try {
    expect(await text('run_tests', { package: 'bank' })).toContain(
      'FEE tests.lisp:6: (= 21 (fee 10)): got 20',
    );
    await session.eval('(fiveam:def-test bank-tests::broken () (error "Broken."))');
    expect(await text('run_tests', { test: 'bank-tests::broken' })).toMatch(/Broken\.[\s\S]*$/);
    expect(await text('run_tests', { test: 'bank-tests::broken' })).not.toContain('did not end');
  } finally {
    await session.eval(
      "(setf fiveam:*on-failure* nil fiveam:*on-error* nil) (fiveam:rem-test 'bank-tests::broken)",
    );
  }
});

test.each(['sum: two numbers', 'a::b', ':key', 'bank-tests:plain', 'plain'])(
  'a test is found by the name %s',
  async (name) => {
    await session.eval(`(rt:rem-all-tests)
      (rt:deftest "sum: two numbers" (+ 1 1) 2) (rt:deftest "a::b" 1 1) (rt:deftest :key 1 1) (rt:deftest bank-tests::plain 1 1)`);
    expect(await text('run_tests', { test: name })).toBe(`${name}: 1 test passes (N s).`);
  },
);
