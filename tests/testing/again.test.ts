// What a run of tests says again, when an edit has compiled much that it did not change.

import { beforeAll, describe, expect, test } from 'vitest';
import { sharedFolder, sharedSession } from '../shared.ts';
import { write } from './workspaces.ts';

const root = sharedFolder();
const put = (files: Record<string, string>) => write(root.path, files);
const user = (forms: string) => put({ 'user.lisp': `(in-package again)\n${forms}\n` });
const RUN =
  '(defun run () (format t "~%~a~%~a~%3 of 3 pass." (make-string 40 :initial-element #\\.) "-=-=-=----"))';

beforeAll(() => {
  put({
    'again.asd': `(defsystem "again" :serial t :components ((:file "base") (:file "user"))
  :perform (test-op (o c) (uiop:symbol-call :again :run)))
`,
    'base.lisp': '(defpackage again (:use cl))\n(in-package again)\n(defun base () 1)\n',
  });
  user(`(defun one (x) 1)\n(defun two (x) 2)\n${RUN}`);
});
const session = sharedSession({
  args: ['--root', root.path],
  onQuestion: () => ({ action: 'accept', content: { decision: 'approve' } }),
});

/** Runs the tests and returns what the answer says of loads. */
const said = async () => (await session.call('run_tests')).text.split('\n\n').slice(2).join('\n\n');

test('warnings that were told of a file are counted, others told', async () => {
  expect(await said()).toBe(`Warnings (2):
  user.lisp
    STYLE-WARNING (line 2:1, DEFUN ONE; line 3:1, DEFUN TWO): The variable X is defined but never used.`);
  put({ 'base.lisp': '(defpackage again (:use cl))\n(in-package again)\n(defun base () 22)\n' });
  expect(await said()).toBe('The same 2 warnings as before.');
  user(`(defun three (y) 3)\n\n(defun one (x) 11)\n(defun two () 2)\n${RUN}`);
  expect(await said()).toBe(`Warnings (1):
  user.lisp
    STYLE-WARNING (line 2:1, DEFUN THREE): The variable Y is defined but never used.

The same warning as before.`);
  expect(await said()).toBe('');
});

test('warnings are told of what was loaded to find a test, also when there is none', async () => {
  await session.call('restart_image', { rebuild: 'none' });
  user(`(defun nine (z) 9)\n${RUN}`);
  expect(
    await session.text('run_tests', { test: 'nowhere' }),
  ).toBe(`No framework has a test or suite nowhere. Nothing ran.

Warnings (1):
  user.lisp
    STYLE-WARNING (line 2:1, DEFUN NINE): The variable Z is defined but never used.`);
});

test('loads count the warnings that they have told of a file before, and force tells them', async () => {
  const load = (force = false) => session.text('load_system', { system: 'again', force });
  const warning = 'STYLE-WARNING (line 2:1, DEFUN SIX): The variable V is defined but never used.';
  user(`(defun six (v) 6)\n${RUN}`);
  expect(await load()).toContain(`Warnings (1):\n  user.lisp\n    ${warning}`);
  user(`(defun six (v) 6)\n(defun seven (w) 7)\n${RUN}`);
  expect(await load()).toContain(`Warnings (1):
  user.lisp
    STYLE-WARNING (line 3:1, DEFUN SEVEN): The variable W is defined but never used.

The same warning as before.`);
  expect(await session.text('load_file', { path: 'user.lisp' })).toMatch(
    /^Loaded user\.lisp\n\nThe same 2 warnings as before\.(?:\n\nStill|$)/,
  );
  expect(await session.text('load_file', { path: 'user.lisp', check: true })).toContain(warning);
  expect(await load(true)).toContain(warning);
});

test('warnings that a load has told are not told again by the next run', async () => {
  user(`(defun four (z) 4)\n${RUN}`);
  const load = () => session.text('load_system', { system: 'again' });
  const warning = 'STYLE-WARNING (line 2:1, DEFUN FOUR): The variable Z is defined but never used.';
  expect(await load()).toContain(warning);
  put({ 'base.lisp': '(defpackage again (:use cl))\n(in-package again)\n(defun base () 333)\n' });
  expect(await said()).toMatch(
    /^The same warning as before\.(?:\n\n(?:In the image but|Still in the image)|$)/,
  );
});

test('an error is told each time', async () => {
  user(`(defun one () (let ((x . 1)) x))\n${RUN}`);
  for (const form of ['1', '22']) {
    put({ 'base.lisp': `(defpackage again (:use cl))\n(in-package again)\n(defun base () ${form}0)\n` });
    expect((await session.call('run_tests')).text).toContain('ERROR (line 2:21, DEFUN ONE)');
  }
});

test('of a framework that nobody knows no dots are told', async () => {
  user(RUN);
  expect((await session.call('run_tests')).text).toContain(
    'The test operation of again ended without an error. live-lisp recognized no tests in it, so none are counted, and a failure that was only printed or returned is not detected.\n\nIts output ends:\n...\n-=-=-=---\n3 of 3 pass.',
  );
});

test('of output with many lines without a word the beginning is told, and of equal lines one', async () => {
  user(
    `(defun run () (dotimes (i 150) (format t "~&.~%..~%")) (dotimes (i 9) (format t "ok~%")) (princ "All pass."))`,
  );
  expect((await session.call('run_tests')).text).toContain(
    'Its output ends:\n.\n..\n.\n[... 297 more lines without a letter or digit ...]\nok\n[... 8 more lines like it ...]\nAll pass.',
  );
});

test('a variable that a load did not set again is told by each run until it is set', async () => {
  const base = (value: string) =>
    put({ 'base.lisp': `(defpackage again (:use cl))\n(in-package again)\n(defvar *rate* ${value})\n` });
  user(RUN);
  base('1');
  await session.call('run_tests');
  base('(+ 1 10)');
  const stale = 'Not set again, because bound: AGAIN::*RATE* is 1, the file says (+ 1 10).';
  expect((await session.call('run_tests')).text).toContain(
    `${stale}\nTo set it before the tests, call run_tests with reset: ["AGAIN::*RATE*"].`,
  );
  expect((await session.call('run_tests')).text).toMatch(
    /\nWith AGAIN::\*RATE\* still not as the files say\.(?![\s\S]*RATE)/,
  );
  await session.eval('(setf again::*rate* 11)');
  expect((await session.call('run_tests')).text).not.toContain('*RATE*');
});

test('what the image has and its file has no longer is told at length once', async () => {
  const base = (forms: string) =>
    put({ 'base.lisp': `(defpackage again (:use cl))\n(in-package again)\n${forms}\n` });
  user(RUN);
  base('(defun stays () 1)\n(defun goes () 1)');
  await session.call('run_tests');
  base('(defun stays () 2)');
  expect((await session.call('run_tests')).text).toMatch(
    /^In the image but no longer in base\.lisp: .*AGAIN::GOES.*(?:\n.*)?\nload_file with forget: true removes what its file no longer has\.$/m,
  );
  base('(defun stays () 3)');
  const { text } = await session.call('run_tests');
  expect(text).toContain('\nStill in the image, not in base.lisp: ');
  expect(text).toContain('AGAIN::GOES');
  expect(text).not.toContain('forget: true');
});

describe('reset', () => {
  const base = (text: string) =>
    put({ 'base.lisp': `(defpackage again (:use cl))\n(in-package again)\n${text}\n` });
  const reset = async (...names: string[]) => (await session.call('run_tests', { reset: names })).text;

  test('gives variables the values of their files before the tests, however they are named', async () => {
    user(RUN);
    base("(defvar *table* '(1 2))\n(defparameter *size* 1)");
    await session.call('run_tests');
    base(
      '(defun twice (x) (* 2 x))\n(defvar *table* ; comment\n  #+sbcl (list (twice 5) "é")\n  #-sbcl nil\n  "A docstring.")\n(defparameter *size* (twice 1))',
    );
    await session.eval('(setf again::*size* :other)');
    expect(await reset('*table*', 'AGAIN::*SIZE*')).toContain(
      'Set as the files say: AGAIN::*TABLE*, AGAIN::*SIZE*.',
    );
    expect(await session.eval('(list again::*table* again::*size*)')).toBe('((10 "é") 2)');
    expect((await session.call('run_tests')).text).not.toContain('*TABLE*');
  });

  test('tells no longer of a variable that it sets to the value that it had', async () => {
    user(RUN);
    base('(defvar *five* 5)');
    await session.call('run_tests');
    base('(defvar *five* (+ 2 3))');
    expect((await session.call('run_tests')).text).toContain('AGAIN::*FIVE* is 5, the file says (+ 2 3)');
    const said = await reset('*five*');
    expect(said).toContain('Set as the files say: AGAIN::*FIVE*.');
    expect(said).not.toContain('Not set again');
    base('(defvar *five* (+ 2 3))\n(defun more () 1)');
    expect((await session.call('run_tests')).text).not.toContain('*FIVE*');
  });

  test('lets Lisp read the definition: names in bars, #p, features, several definitions, the file', async () => {
    user(RUN);
    base('(defvar |*Foo*| 1) (defvar *foo* :other)');
    await session.call('run_tests');
    base(
      '(defvar |*Foo*| #p"data/")\n(defvar *foo* :other)\n(sb-ext:defglobal *here* (or *compile-file-truename* *load-truename*))\n(defvar *text* #+sbcl "a" #-sbcl "b")\n(defvar *later*) (defparameter *later* 3)',
    );
    await session.eval('(setf again::*foo* :mine)');
    expect(await reset('again::|*Foo*|', 'again::*here*', '*text*', '*later*')).toContain(
      'Set as the files say: AGAIN::*Foo*, AGAIN::*HERE*, AGAIN::*TEXT*, AGAIN::*LATER*.',
    );
    expect(
      await session.eval(
        '(list again::|*Foo*| again::*foo* (file-namestring again::*here*) again::*text* again::*later*)',
      ),
    ).toBe('(#P"data/" :MINE "base.lisp" "a" 3)');
  });

  test('finds the file of what was evaluated last, and the value in a form that makes a DEFVAR', async () => {
    user(RUN);
    base(
      '(defmacro defsetting (name value &optional text) `(defvar ,name ,value ,@(and text (list text))))\n(defvar *limit* 1)\n(defsetting *size* 10 "A text.")',
    );
    await session.call('run_tests');
    await session.eval('(defparameter again::*limit* 5) (setf again::*size* 7)');
    expect(await reset('again::*limit*', '*size*')).toContain(
      'Set as the files say: AGAIN::*LIMIT*, AGAIN::*SIZE*.',
    );
    expect(await session.eval('(list again::*limit* again::*size*)')).toBe('(1 10)');
  });

  test('takes no class or function of the same name for the variable', async () => {
    user(RUN);
    base('(defvar counter 1)\n(defgeneric counter (object))\n(defclass counter () ())');
    await session.call('run_tests');
    await session.eval('(setf again::counter 9)');
    expect(await reset('again::counter')).toContain('Set as the files say: AGAIN::COUNTER.');
    expect(await session.eval('again::counter')).toBe('1');
  });

  test('loads what the tests need that are asked for by name', async () => {
    base('(defvar *fresh* 1)');
    await session.call('restart_image');
    expect(
      await session.text('run_tests', { failed: false, package: 'again', reset: ['again::*fresh*'] }),
    ).not.toContain('names no variable');
  });

  test('sets nothing, and runs nothing, when it is not known what a variable is to be', async () => {
    base('(defvar *table* 1)\n(defvar *empty*)\n(defun twice (x) x)\n(defvar *broken* 1)');
    user(RUN);
    await session.call('run_tests');
    await session.eval('(progn (setf again::*table* :mine))');
    const nothing = 'No variable was set, and no tests ran.';
    for (const [name, why] of [
      [
        '*empty*',
        "No file has a DEFVAR or DEFPARAMETER that gives AGAIN::*EMPTY* a value. No variable was set, and no tests ran. Set it with eval_form, and leave it out of parameter 'reset'.",
      ],
      [
        'again::twice',
        "again::twice names no variable. No variable was set, and no tests ran. In parameter 'reset', give names with packages, such as app::*table*.",
      ],
      [
        '*nowhere*',
        "*nowhere* names no variable. No variable was set, and no tests ran. In parameter 'reset', give names with packages, such as app::*table*.",
      ],
    ] as const)
      expect(await reset('*table*', name)).toBe(why);
    expect(await session.eval('again::*table*')).toBe(':MINE');
    base(
      '(defvar *table* 1)\n(defvar *empty*)\n(defun twice (x) x)\n(let ((x 1)) (defvar *within* x))\n(defvar *broken* (error "No value"))',
    );
    expect(await reset('*table*', 'again::*broken*')).toMatch(
      /^No tests ran, because AGAIN::\*BROKEN\* could not be set to the value in its file\. Already set: AGAIN::\*TABLE\*\.\n\nError: No value\n/,
    );
    expect(await reset('*within*')).toBe(
      `Only a nested form has a DEFVAR or DEFPARAMETER that gives AGAIN::*WITHIN* a value. ${nothing} Set it with eval_form, and leave it out of parameter 'reset'.`,
    );
  });

  test('asks which is meant where several packages have such a variable', async () => {
    await session.eval('(defvar again::*two* 1) (defpackage again-too (:use)) (defvar again-too::*two* 2)');
    expect(await reset('*two*')).toBe(
      "*two* names several variables: AGAIN::*TWO*, AGAIN-TOO::*TWO*. No variable was set, and no tests ran. Put one of these in parameter 'reset'.",
    );
  });
});
