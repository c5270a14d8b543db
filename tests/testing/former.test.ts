// Tests that the image still has and their file no longer has: a fresh image would not run them, so no run does.

import { expect, test } from 'vitest';
import { libraries } from '../libraries.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

libraries('fiveam');
const root = sharedFolder();
const put = (name: string, forms: string) =>
  root.put(`${name}.lisp`, `(defpackage ${name} (:use :cl))\n(in-package ${name})\n${forms}\n`);
root.put(
  'former.asd',
  `(defsystem "in-fiveam" :depends-on ("fiveam") :serial t :components ((:file "suite") (:file "in-fiveam"))
  :perform (test-op (o c) (uiop:symbol-call :fiveam :run! (uiop:find-symbol* :all :in-fiveam))))
(defsystem "in-rt" :depends-on ("sb-rt") :components ((:file "in-rt"))
  :perform (test-op (o c) (uiop:symbol-call :sb-rt :do-tests)))
`,
);
const SUITE = '(fiveam:in-suite all)\n';
root.put('suite.lisp', '(defpackage in-fiveam (:use :cl))\n(in-package in-fiveam)\n(fiveam:def-suite all)\n');
const fiveam = (...names: string[]) =>
  names.map((name) => `(fiveam:test ${name} (fiveam:is (= 1 1)))`).join('\n');
const rt = (...names: string[]) => names.map((name) => `(sb-rt:deftest ${name} 1 1)`).join('\n');
put('in-fiveam', SUITE + fiveam('one', 'two'));
put('in-rt', rt('one', 'two'));
const session = sharedSession({ args: ['--root', root.path] });
const run = async (args: object) =>
  (await session.call('run_tests', { ...args })).text.replace(/\d+\.\d s\)/, 'N s)');

test('a test is not run once its file no longer has it', async () => {
  const system = 'in-rt';
  expect(await run({ system })).toBe('in-rt: 2 tests pass (N s).');
  put(system, rt('one', 'three'));
  const gone = 'Not run, since in-rt.lisp no longer has it: IN-RT::TWO';
  expect(await run({ system })).toContain(
    'in-rt: 2 tests pass (N s).\nNew: THREE\nRan before, and not now: TWO',
  );
  expect(await run({ package: 'IN-RT' })).toBe(`IN-RT: 2 tests pass (N s).\n${gone}`);
  expect(await run({ test: 'IN-RT::two' })).toContain(gone);
  put(system, rt('one', 'two'));
  await run({ system });
  expect(await run({ package: 'IN-RT' })).toBe(
    'IN-RT: 2 tests pass (N s).\nNot run, since in-rt.lisp no longer has it: IN-RT::THREE',
  );
});

test('a test that a form of the file may make, or a form that was evaluated, is run', async () => {
  const macro =
    '(defmacro both (&rest names) `(progn ,@(loop for name in names collect `(fiveam:test ,name (fiveam:is (= 2 2))))))';
  put('in-fiveam', `${SUITE}${macro}\n${fiveam('one', 'two', 'four')}`);
  await run({ system: 'in-fiveam' });
  put('in-fiveam', `${SUITE}${macro}\n(both one two)`);
  expect(await run({ system: 'in-fiveam' })).toContain('in-fiveam: 2 tests pass');
  const gone = /^Not run, since in-fiveam.lisp no longer has .*IN-FIVEAM::FOUR/m;
  expect(await run({ package: 'in-fiveam' })).toMatch(gone);
  await session.eval('(in-package :in-fiveam) (fiveam:test four (fiveam:is (= 3 3)))');
  expect(await run({ package: 'in-fiveam' })).not.toMatch(gone);
});
