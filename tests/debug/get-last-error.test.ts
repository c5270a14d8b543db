// get_last_error: the error as it was when it happened, whatever printing its values would do.

import { describe, expect, test } from 'vitest';
import { until } from '../server/processes.ts';
import { sharedSession } from '../shared.ts';

const session = sharedSession();

/** Returns the answer of get_last_error. Another answer stands before it, since behind that with the error it leaves out
 *  what that has. */
async function last(args: Record<string, unknown> = {}): Promise<string> {
  await session.text('search_tools', { query: 'error' });
  return session.text('get_last_error', args);
}

test('before there is one it says so, and that is no failure', async () => {
  const { text, isError } = await session.call('get_last_error');
  expect(isError).toBe(false);
  expect(text).toMatch(
    /^No evaluation, compilation or load in this image has signalled an error, and no error has ended another thread\. The image began \d{4}-\d\d-\d\dT[\d:]+Z; errors of earlier images are lost\.$/,
  );
});

test('it has the condition, the form, the restarts, and the frames with their locals', async () => {
  await session.eval(
    '(declaim (optimize (debug 2))) (defstruct point x y) (defun inner (x p) (let ((both (list x p))) (cerror "Go on." "at ~a" x) both)) (defun outer (n) (list (inner (* 2 n) (make-point :x n))))',
  );
  await session.call('eval_form', { form: '(+ 1 2)\n(outer 3)' });
  expect((await last()).replace(/\d{4}-\S+Z, \d+ s ago,/g, 'TIME')).toBe(
    'Error: at 6\nType: COMMON-LISP::SIMPLE-ERROR\n\n' +
      'Signalled TIME by an evaluation, in package COMMON-LISP-USER\n\nForm 2:\n  (outer 3)\n\n' +
      'Restarts (none was invoked; the call was ended):\n  CONTINUE: Go on.\n\n' +
      'Frames, with the locals that their code kept:\n' +
      '  0: (COMMON-LISP-USER::INNER 6 #S(COMMON-LISP-USER::POINT :X 3 :Y NIL))\n' +
      '       BOTH = (6 #S(COMMON-LISP-USER::POINT :X 3 :Y NIL))\n' +
      '       P = #S(COMMON-LISP-USER::POINT :X 3 :Y NIL)\n       X = 6\n' +
      '  1: (COMMON-LISP-USER::OUTER 3)\n       N = 3',
  );
});

describe('locals', () => {
  test('that print long are shown once, and why some have no value is told once in a session', async () => {
    await session.eval(
      '(defun gives (y) (declare (optimize (debug 2))) (let ((other y)) (cerror "c" "long") (list y other))) (defun passes (y) (declare (optimize (debug 2))) (list (gives y)))',
    );
    const long = `"${'long '.repeat(12)}"`;
    await session.call('eval_form', { form: `(passes ${long})` });
    const text = await last();
    expect(text.split(long)).toHaveLength(3 + 1);
    expect(text).toContain('\n       Y = (printed above)');
  });

  test('are as they were, although they changed', async () => {
    await session.eval('(defvar *cell* (list 1)) (defun holds (c) (cerror "c" "held") c)');
    await session.eval('(holds *cell*)');
    await session.eval('(setf (car *cell*) 2)');
    expect(await last()).toContain('C = (1)');
  });

  test('whose print methods never end or fail show their slots, and cost no time', async () => {
    await session.eval(
      '(defclass bad () ((id :initform 7))) (defvar *shown* nil) (defmethod print-object ((b bad) s) (setf *shown* t) (loop)) (defun takes (&optional (b (make-instance (quote bad)))) (cerror "c" "bad") b)',
    );
    const takes = session.call('eval_form', { form: '(takes)' });
    await until('the print method', 10_000, async () => (await session.eval('*shown*')) === 'T');
    await session.call('interrupt');
    await takes;
    expect(await last()).toContain('B = #<COMMON-LISP-USER::BAD ID 7>');
  });

  test('a call with wrong keywords has the arguments that it was given', async () => {
    await session.eval('(defun keyed (n &key a (b 2)) (list n a b))');
    for (const call of ['(keyed 1 :c 3)', '(keyed 1 :a)']) {
      await session.eval(call);
      expect(await last()).toContain(`0: ${call.replace('(', '(COMMON-LISP-USER::').toUpperCase()}`);
    }
  });

  test('for which no time was left are said to be missing', async () => {
    await session.eval('(defun takes-one (n) (cerror "c" "one") n)');
    await session.eval('(defvar *time* (shiftf live-lisp.jobs::*locals-milliseconds* 0))');
    await session.eval('(takes-one 1)');
    await session.eval('(setf live-lisp.jobs::*locals-milliseconds* *time*)');
    expect(await last({ frame: 0 })).toBe(
      '0: (COMMON-LISP-USER::TAKES-ONE)\n       (its arguments and locals were not kept: reading those of the frames above took too long)',
    );
  });

  test('are bounded, and frame shows more of them', async () => {
    await session.eval(
      '(defun takes-long (s) (cerror "c" "long") s) (takes-long (make-string 5000000 :initial-element #\\b))',
    );
    expect(await last()).toMatch(/S = "b{119} \.\.\.\n?/);
    expect(await last({ frame: 0 })).toMatch(/S = "b{900,}\.\.\.$/);
    await session.eval('(takes-long (cons (expt 7 300000) (make-array 1000000 :element-type (quote bit))))');
    expect(await last({ frame: 0 })).toMatch(
      /S = \(#<NUMBER of \d+ bits> \. #<BIT-VECTOR of 1000000 bits>\)$/,
    );
    await session.eval('(takes-long (quote #1=(1 . #1#)))');
    expect(await last({ frame: 0 })).toMatch(/S = \(1 1 1 1 1 1 1 1 \.\.\.\)$/);
  });
});

test('an error that ends another thread is kept, with the name of that', async () => {
  await session.eval('(defun falls (n) (cerror "c" "in ~d" n) n)');
  await session.eval(
    '(sb-thread:join-thread (sb-thread:make-thread (lambda () (falls 7)) :name "worker") :default nil)',
  );
  expect((await last()).replace(/\d{4}-\S+Z, \d+ s ago,/g, 'TIME').replace(/\{\w+\}/, '{X}')).toMatch(
    /^Error: in 7\nType: COMMON-LISP::SIMPLE-ERROR\n\nSignalled TIME by the thread worker, in package COMMON-LISP-USER\n\nRestarts \(none was invoked; the thread was ended\):\n {2}CONTINUE: c\n {2}ABORT: .*\n\nFrames, .*:\n {2}0: \(COMMON-LISP-USER::FALLS 7\)\n {7}N = 7\n\nOther errors/,
  );
});

describe('older errors', () => {
  test('ten are kept, and index reaches them', async () => {
    for (let count = 1; count <= 11; count += 1) await session.eval(`(error "number ~d" ${count})`);
    expect(await last()).toMatch(/^Error: number 11\n/);
    expect(await last({ index: 9 })).toMatch(
      /^Error: number 2\n[\s\S]*\n\nOther errors \(to see one, give index\):\n {2}0: \d{4}-\S+Z COMMON-LISP::SIMPLE-ERROR\n/,
    );
    expect(await last({ index: 10 })).toBe('There is no error 10: 10 are kept, with the indices 0 to 9.');
    expect(await last({ frame: 5 })).toBe('There is no frame 5 of error 0: no frames were kept of it.');
  });

  test('handled errors are none, and those of loads and compilations are', async () => {
    await session.eval('(handler-case (error "handled") (error () 1))');
    expect(await last()).toMatch(/^Error: number 11\n/);
    await session.call('compile_form', { form: '(eval-when (:compile-toplevel) (error "compiling"))' });
    expect(await last()).toMatch(/^Error: compiling\n.*by a compilation/s);
  });

  test('an exhausted stack is kept without locals', async () => {
    await session.eval('(defun deep (n) (+ 1 (deep n))) (deep 1)');
    // Newer SBCLs have not kept the arguments of the newest call yet.
    expect(await last()).toMatch(
      /^Error: Control stack exhausted.* {2}0: \(COMMON-LISP-USER::DEEP (1|#<not kept>.*)\)\n {2}1: \(COMMON-LISP-USER::DEEP 1\)\n/s,
    );
  });
});

test('they are lost with the image, and it does not claim otherwise', async () => {
  await session.call('eval_form', { form: '(sb-ext:exit :abort t)' });
  const { text, notices } = await session.call('get_last_error');
  expect(text).toMatch(/^No evaluation, compilation or load in this image has signalled an error/);
  expect(notices.join('\n')).toContain('This is a new Lisp image; the one before was lost');
});
