// Tests that the image still has and their file no longer has: a fresh image would not run them, so no run does.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { testSbcl } from '../harness.ts';
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
(defsystem "former" :depends-on ("in-fiveam" "in-rt"))
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

test.each([
  ['in-fiveam', (...names: string[]) => SUITE + fiveam(...names)],
  ['in-rt', rt],
])('a test of %s is not run once its file no longer has it', async (system, forms) => {
  const home = system.toUpperCase();
  expect(await run({ system })).toBe(`${system}: 2 tests pass (N s).`);
  put(system, forms('one', 'three'));
  const gone = `Not run, since ${system}.lisp no longer has it: ${home}::TWO`;
  // A suite that is made again has no longer any test that the file lacks, so its framework runs none.
  expect(await run({ system })).toContain(
    `${system}: 2 tests pass (N s).\nNew: THREE\nRan before, and not now: TWO`,
  );
  expect(await run({ package: home })).toBe(`${home}: 2 tests pass (N s).\n${gone}`);
  expect(await run({ test: `${home}::two` })).toContain(gone);
  put(system, forms('one', 'two'));
  await run({ system });
  expect(await run({ package: home })).toBe(
    `${home}: 2 tests pass (N s).\nNot run, since ${system}.lisp no longer has it: ${home}::THREE`,
  );
});

test('what is run is what a fresh image runs', () => {
  const forms = [
    '(require :asdf)',
    `(push #p"${root.path}/" asdf:*central-registry*)`,
    '(asdf:load-asd (merge-pathnames "former.asd" (first asdf:*central-registry*)))',
    '(asdf:load-system "in-rt")',
    '(format t "~%~S" (mapcar #\'symbol-name (sb-rt:pending-tests)))',
  ].flatMap((form) => ['--eval', form]);
  const options = ['--noinform', '--no-userinit', '--non-interactive', ...forms];
  expect(execFileSync(testSbcl(), options, { encoding: 'utf8' })).toMatch(/\("ONE" "TWO"\)$/);
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
