// debug: which frames can be left and run again, and what becomes of an error that a form leaves. To leave a frame wrongly
// spoils memory.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ownFolder, sharedSession } from '../shared.ts';

const session = sharedSession(
  {},
  `
(declaim (ftype (function (t) nil) die))
(defun die (x) (error "Dead: ~a." x))
(defun kill (x) (list (die x)))
(defun each (list) (locally (declare (notinline mapcar)) (mapcar (lambda (y) (list (error "No ~a." y))) list)))
(defun deeper (n) (labels ((down (x) (if (zerop x) (error "Deep.") (list (down (1- x)))))) (list (down n) (down 0))))
(defun chain (n) (if (zerop n) (error "Deep.") (list (chain (1- n)))))
(defun second-of (a &optional (b (error "No second."))) (list a b))
(defgeneric area (shape &key unit))
(defmethod area ((n integer) &key (unit 1)) (cerror "Go on." "No ~a." n) (list n unit))
(defmethod area ((n fixnum) &key &allow-other-keys) (list :fixnum (call-next-method)))
(defmethod area :around (n &key &allow-other-keys) (list :around (call-next-method)))
(defgeneric (setf area) (new shape))
(defmethod (setf area) (new (shape cons)) (list (error "No ~a in ~a." new shape)))`,
);

const debug = (args: Record<string, unknown> = {}) => session.text('debug', args);

/** Holds the error of FORM and returns its number. */
async function hold(form: string): Promise<number> {
  const text = await session.eval(form, { on_error: 'hold' });
  const [, number] = /^Held as error (\d+)/m.exec(text) ?? [];
  if (number === undefined) throw new Error(`Nothing was held: ${text}`);
  return Number(number);
}

describe('a frame that cannot be left says why', () => {
  test.each([
    [
      '(flet ((f () (error "No."))) (declare (notinline f)) (list (f)))',
      "it is a local function, and the code of its caller may assume that it never returns. This works with no listed frame. Give 'restart', or end: true to abort the call.",
    ],
    [
      '(deeper 2)',
      'it returns values in a way that only its callers know. The nearest frame with which this works is 3.',
    ],
    ['(kill 1)', 'it is declaimed never to return. The nearest frame with which this works is 1.'],
    [
      '(parse-integer "x")',
      "its code was compiled at too low a debug level. This works with no listed frame. Give 'restart', or end: true to abort the call.",
    ],
  ])('%s', async (form, why) => {
    const error = await hold(form);
    expect(await debug({ error, frame: 0, return: '5' })).toBe(
      `Frame 0 cannot be left that way: ${why} Nothing was done; error ${error} is still held.`,
    );
    await debug({ error, end: true });
  });

  test('and so does one whose arguments are gone, whose form can be evaluated again', async () => {
    const error = await hold('(second-of 1)');
    expect(await debug({ error })).toContain('0: (COMMON-LISP-USER::SECOND-OF #<not kept>)');
    expect(await debug({ error, eval: '(list a)' })).toMatch(
      /^Error: SBCL has not kept the value of A at this point of the frame\. To keep all values, compile the code with debug_level: 3 in eval_form or load_file\./,
    );
    expect(await debug({ error, frame: 0, retry: true })).toBe(
      `Frame 0 cannot be left that way: its code does not keep all of its arguments. This works with no listed frame. Give 'restart', 'retry' without 'frame', or end: true to abort the call. Nothing was done; error ${error} is still held.`,
    );
    await debug({ error, end: true });
  });
});

test('a frame whose caller was compiled together with it cannot, when that can know that it never returns', async () => {
  await session.eval(
    '(defun never (n) (when (zerop n) (error "Never.")) (list (never (1- n))) (error "Not here."))',
  );
  const error = await hold('(never 3)');
  expect(await debug({ error, frame: 0, return: '5' })).toBe(
    `Frame 0 cannot be left that way: it is compiled together with its caller, whose code may assume that it never returns. The nearest frame with which this works is 3. Nothing was done; error ${error} is still held.`,
  );
  expect(await debug({ error, frame: 3, return: '5' })).toBe('5');
  const folder = ownFolder();
  const file = join(folder.path, 'block.lisp');
  writeFileSync(
    file,
    '(in-package :cl-user)\n(defun block-die (x) (error "No ~a." x))\n(defun block-kill (x) (list (block-die x) x))\n',
  );
  await session.eval(`(load (compile-file "${file}" :block-compile t))`);
  const other = await hold('(block-kill 1)');
  expect(await debug({ error: other, frame: 0, return: '5' })).toMatch(
    /: it is compiled together with its caller, whose code may assume that it never returns\. The nearest frame with which this works is 1\./,
  );
  expect(await debug({ error: other, frame: 1, return: '6' })).toBe('6');
});

test('one of a lambda that a library calls can, and so can those of a function that calls itself', async () => {
  const first = await hold("(each '(1 2))");
  const second = await debug({ error: first, frame: 0, return: '5' });
  expect(second).toContain('No 2.');
  expect(await debug({ error: first + 1, frame: 0, return: '6' })).toBe('(5 6)');
  const error = await hold('(chain 4)');
  expect(await debug({ error, frame: 2, return: ':left' })).toBe('((:LEFT))');
});

describe('a method that is run again', () => {
  test('is the only one: those around it are not called again, and its next methods are', async () => {
    const error = await hold('(area 2 :unit 3)');
    const look = await debug({ error });
    expect(look).toContain('0: ((:METHOD COMMON-LISP-USER::AREA (INTEGER)) 2 :UNIT 3)');
    expect(look).toContain(': ((:METHOD COMMON-LISP-USER::AREA :AROUND (T)) 2');
    const fix = '(defmethod area ((n integer) &key (unit 1)) (* n unit))';
    expect(await debug({ error, frame: 0, fix, retry: true })).toMatch(/\n\n\(:AROUND \(:FIXNUM 6\)\)$/);
  });

  test('can be one of a SETF function', async () => {
    const error = await hold('(setf (area (list 1)) 2)');
    const fix = '(defmethod (setf area) (new (shape cons)) (list new shape))';
    expect(await debug({ error, frame: 0, fix, retry: true })).toMatch(/\n\n\(2 \(1\)\)$/);
  });
});

describe('a form that leaves the error', () => {
  test('by a restart or a throw has the answer of the call as its own', async () => {
    const error = await hold('(restart-case (list (kill 1)) (use-value (v) (princ "used") (list :used v)))');
    expect(await debug({ error, eval: "(invoke-restart 'use-value 5)" })).toBe('(:USED 5)\n\nOutput:\nused');
    expect(await debug({ error })).toMatch(
      / is not held: a form evaluated in its thread left it by a non-local exit\./,
    );
    const other = await hold('(list (catch :out (kill 1)))');
    expect(await debug({ error: other, fix: '(throw :out 3)' })).toBe('(3)');
  });

  test('into another error holds that', async () => {
    const error = await hold('(progn (catch :out (kill 1)) (kill 2))');
    expect(await debug({ error, eval: '(throw :out 3)' })).toMatch(
      new RegExp(`^Error: Dead: 2\\.[\\s\\S]*\\nHeld as error ${error + 1}, `),
    );
    await debug({ error: error + 1, end: true });
  });

  test('counts for the journal as the call would have', async () => {
    const error = await hold('(progn (defun after () 8) (catch :out (kill 1)))');
    expect(await debug({ error, eval: '(throw :out 7)' })).toBe('7');
    await session.eval('(sb-ext:exit :abort t)');
    expect(await session.eval('(after)')).toBe('8');
  });
});

describe('what is given to evaluate', () => {
  test('and cannot be read is told as by eval_form, and nothing is done', async () => {
    const error = await hold('(restart-case (kill 1) (use-value (v) v))');
    const unreadable = (column: number) =>
      `Error: form 1 cannot be read: the text ends inside this form\nThe form begins at line 1, column 1; reading stopped at line 1, column ${column}. Nothing was evaluated.\n\nError ${error} is still held.`;
    expect(await debug({ error, eval: '(list 1' })).toBe(unreadable(8));
    expect(await debug({ error, restart: 'use-value', values: ['1', '(list'] })).toBe(unreadable(6));
    expect(await debug({ error, frame: 1, return: '(list' })).toBe(unreadable(6));
    await debug({ error, end: true });
  });

  test.each([
    [{ eval: ' ' }, "Parameter 'eval' has an empty form; nothing was done."],
    [{ restart: 'use-value', values: ['1', ''] }, "Parameter 'values' has an empty form; nothing was done."],
    [{ fix: '', retry: true }, "Parameter 'fix' has an empty form; nothing was done."],
  ])('%j', async (args, text) => {
    expect(await debug({ error: 1, ...args })).toMatch(new RegExp(`^(Tool error: )?${text}$`));
  });
});

test('a restart that gets too many values is held again, in code that has no package', async () => {
  const error = await hold('(restart-case (list (kill 1)) (two (a b) (list a b)) (one (a) a))');
  expect(await debug({ error })).toMatch(/\n {2}0 TWO \(&rest value\): TWO\n {2}1 ONE \(value\): ONE$/);
  expect(await debug({ error, restart: 'one', values: ['1', '2', '3'] })).toMatch(
    /^Error: invalid number of arguments: 3\n[\s\S]*Held as error/,
  );
  expect(await debug({ error: error + 1, restart: 'two', values: ['1', '2'] })).toBe('(1 2)');
});

test('a memory fault is told where it was, and not with the frames of the runtime', async () => {
  const error = await hold(
    '(locally (declare (optimize (safety 0))) (list (sb-sys:sap-ref-word (sb-sys:int-sap 16) 0)))',
  );
  expect(await debug({ error })).toMatch(/\n\nFrames:\n {2}0: \(SB-SYS:SAP-REF-64 [^\n]*\)$/);
  await debug({ error, end: true });
});
