// A system with its program and its tests in one file: what is measured of it, and what else is told of its tests.

import { beforeAll, expect, test } from 'vitest';
import { LIBRARIES_AS_COMPILED } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { sharedFolder, sharedSession } from '../shared.ts';
import { write } from './workspaces.ts';

libraries('fiveam');

const PROGRAM = `(defpackage checks (:use cl))
(in-package checks)
(defun half (n) (if (evenp n) (/ n 2) (error "Odd.")))
(defun unused (n) (1+ n))
(5am:def-suite all)
(5am:in-suite all)
(5am:test first-one (5am:is (= 1 (half 2))))
(5am:test empty (half 4))
(5am:test last-one (5am:is (= 1 (half 4))))
(defun between (name) name)
(defun run-each ()
  (dolist (name '(first-one empty last-one))
    (5am:run! name)
    (between name)))
`;

const root = sharedFolder();
beforeAll(() => {
  write(root.path, {
    'checks.lisp': PROGRAM,
    'checks.asd': `(defsystem "checks" :depends-on ("fiveam") :components ((:file "checks"))
  :perform (test-op (o c) (uiop:symbol-call :checks :run-each)))
`,
  });
});
const session = sharedSession({ args: ['--root', root.path, ...LIBRARIES_AS_COMPILED] });

const run = async (args: Record<string, unknown> = {}) => {
  const { text, isError } = await session.call('run_tests', args);
  return { lines: text.replace(/\d+\.\d s\)/g, 'N s)').split('\n'), isError };
};
const FAILURE = '  LAST-ONE checks.lisp:9: (= 1 (half 4)): got 2';

test('its functions are measured, and tests that check nothing are told', async () => {
  expect((await run({ coverage: true })).lines).toEqual([
    'checks: 1 of 3 tests fails (2 checks, N s).',
    FAILURE,
    '1 test checked nothing: EMPTY',
    '',
    'Coverage: 3 of 4 definitions ran, 2 of them wholly.',
    '  HALF checks.lisp:3: never 3 (error "Odd.")',
    'Never ran: UNUSED checks.lisp:4',
  ]);
});

test('those that failed are those of the system that is named', async () => {
  expect((await run({ system: 'checks', failed: true })).lines).toEqual([
    'Tests that failed before: 1 of 1 test fails (N s).',
    FAILURE,
  ]);
  expect((await run({ system: '#:Checks', failed: true })).lines[1]).toBe(FAILURE);
  expect(await run({ system: 'fiveam', failed: true })).toEqual({
    lines: [
      "No tests of fiveam have run yet, so none failed. First call run_tests without parameter 'failed'.",
    ],
    isError: true,
  });
});

test('a run beside a variable that was not set again says so first, and which tests are no more', async () => {
  const withVariable = (value: number) =>
    PROGRAM.replace('(defun half', `(defvar *old* ${value})\n(defun half`);
  write(root.path, { 'checks.lisp': withVariable(1) });
  await run();
  write(root.path, { 'checks.lisp': withVariable(22).replaceAll('last-one', 'final') });
  expect((await run()).lines.slice(0, 6)).toEqual([
    'checks: 1 of 3 tests fails (2 checks, N s), with 1 variable not as the files say.',
    '  FINAL checks.lisp:10: (= 1 (half 4)): got 2',
    '1 test checked nothing: EMPTY',
    'New: FINAL',
    'Ran before, and not now: LAST-ONE',
    'Not set again, because bound: CHECKS::*OLD* is 1, the file says 22.',
  ]);
  write(root.path, { 'checks.lisp': PROGRAM });
  await session.call('load_file', { path: 'checks.lisp' });
  await session.call('load_file', { path: 'checks.lisp', forget: true });
  await run();
});

test('an image that is lost between two tests is told, and with isolate the others run in a new one', async () => {
  const marker = `"${root.path}/lost"`;
  const text = PROGRAM.replace(
    '(defun between (name) name)',
    `(defun between (name) (when (and (eq name 'empty) (not (probe-file ${marker})))
  (close (open ${marker} :direction :output))
  (sb-ext:exit :code 3 :abort t)))`,
  );
  write(root.path, { 'checks.lisp': text });
  expect(await run({ isolate: true })).toEqual({
    lines: [
      'checks: 1 of 3 tests fails (2 checks, N s).',
      FAILURE,
      '1 test checked nothing: EMPTY',
      'After CHECKS::EMPTY the image was lost: it exited with code 3. The other tests ran in a new image.',
    ],
    isError: true,
  });
  write(root.path, { 'checks.lisp': text.replaceAll(marker, marker.replace('lost', 'again')) });
  expect(await run()).toEqual({
    lines: [
      'checks: 2 tests pass (1 check, N s).',
      '1 test checked nothing: EMPTY',
      'The Lisp image was lost during this call: it exited with code 3. The next call gets a new image. The run ended there; with isolate: true it would continue with the other tests.',
    ],
    isError: true,
  });
});

test('no others are told to have run behind an image that was lost after the last of them', async () => {
  const marker = `"${root.path}/last"`;
  write(root.path, {
    'checks.lisp': PROGRAM.replace(
      '(between name)))',
      `(between name))
  (unless (probe-file ${marker})
    (close (open ${marker} :direction :output))
    (sb-ext:exit :code 3 :abort t)))`,
    ),
  });
  expect(await run({ isolate: true })).toEqual({
    lines: [
      'checks: 1 of 3 tests fails (2 checks, N s).',
      '  LAST-ONE: (= 1 (half 4)): got 2',
      '1 test checked nothing: EMPTY',
      'After CHECKS::LAST-ONE the image was lost: it exited with code 3.',
    ],
    isError: true,
  });
  write(root.path, { 'checks.lisp': PROGRAM.replace('(= 1 (half 4))', '(= 2 (half 4))') });
  await run();
  expect(await run({ system: 'checks', failed: true })).toEqual({
    lines: ['No test of checks failed when it last ran, so there is nothing to run.'],
    isError: true,
  });
});

test('with the name of one test, the checks that passed are listed', async () => {
  await session.eval(
    '(5am:test (several :suite all) (5am:is (= 1 (half 2))) (5am:is (= 1 (half 4))) (5am:is-true (evenp (half 8))) (dotimes (n 30) (5am:is (= n (half (* 2 n))))))',
    { package: 'checks' },
  );
  const { lines } = await run({ test: 'several' });
  expect(lines.slice(0, 6)).toEqual([
    'several: 1 of 1 test fails (33 checks, N s).',
    '  SEVERAL: (= 1 (half 4)): got 2',
    'Passed:',
    '  (= 1 (half 2))',
    '  (evenp (half 8))',
    '  (= n (half (* 2 n))), 30 times',
  ]);
  // FiveAM keeps no form of a for-all that passed.
  await session.eval(
    '(5am:test random-one (5am:for-all ((n (5am:gen-integer))) (5am:is (= n (half (* 2 n))))))',
    {
      package: 'checks',
    },
  );
  expect((await run({ test: 'random-one' })).lines).toEqual(['random-one: 1 test passes (N s).']);
  expect((await run({ test: 'first-one' })).lines).toEqual(['first-one: 1 test passes (N s).']);
  expect((await run({ test: 'all' })).lines.join()).not.toContain('Passed:');
});
