// Conditions: each becomes an answer that says what happened, and the image lives.

import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../server/processes.ts';
import { sharedSession } from '../shared.ts';

const session = sharedSession({}, '(defvar *before* :kept)');

afterEach(async () => {
  expect(await session.eval('*before*')).toBe(':KEPT');
});

async function failure(form: string): Promise<string> {
  const { text, isError } = await session.call('eval_form', { form, timeout: 60 });
  expect(isError).toBe(true);
  return text;
}

describe('the whole text', () => {
  const RESTARTS = '\n\nRestarts (none was invoked; the call was ended):\n';

  test.each([
    ['(error "boom ~a" 3)', 'Error: boom 3\nType: COMMON-LISP::SIMPLE-ERROR'],
    [
      '(break "at ~d" 5)',
      `Error: at 5\nType: COMMON-LISP::SIMPLE-CONDITION${RESTARTS}  CONTINUE: Return from BREAK.`,
    ],
    [
      '(undefined-here 1 2)',
      'Error: The function COMMON-LISP-USER::UNDEFINED-HERE is undefined.\n' +
        `Type: COMMON-LISP::UNDEFINED-FUNCTION${RESTARTS}` +
        '  CONTINUE: Retry calling UNDEFINED-HERE.\n' +
        '  USE-VALUE: Call specified function.\n' +
        '  RETURN-VALUE: Return specified values.\n' +
        '  RETURN-NOTHING: Return zero values.',
    ],
    [
      '*unbound-here*',
      'Error: The variable *UNBOUND-HERE* is unbound.\n' +
        `Type: COMMON-LISP::UNBOUND-VARIABLE\nVariable: COMMON-LISP-USER::*UNBOUND-HERE*${RESTARTS}` +
        '  CONTINUE: Retry using *UNBOUND-HERE*.\n' +
        '  USE-VALUE: Use specified value.\n' +
        '  STORE-VALUE: Set specified value and use it.',
    ],
    [
      '(cerror "Go on ~a." "stop ~a" 1)',
      `Error: stop 1\nType: COMMON-LISP::SIMPLE-ERROR${RESTARTS}  CONTINUE: Go on 1.`,
    ],
    [
      '(error "~D, ~D and ~A" (1- (expt 10 100)) (expt 7 700) (expt 10 20000))',
      `Error: ${'9'.repeat(100)}, 37036335534589881919...4096420001 (592 digits) and 10000000000000000000...\nType: COMMON-LISP::SIMPLE-ERROR`,
    ],
    ['(abort)', 'Error: The call was ended by its ABORT restart before it had a value.'],
  ])('of %s', async (form, text) => {
    expect(await failure(form)).toBe(text);
  });

  // Each is without what its report and our look at it need.
  test.each(['COMMON-LISP::UNBOUND-VARIABLE', 'COMMON-LISP::TYPE-ERROR'])(
    'of a %s without a slot',
    async (type) => {
      const name = type.replace(/^.*::/, '');
      // SBCL's own report signals another error from 2.6 on.
      const signalled = await session.eval(
        `(handler-case (princ-to-string (make-condition '${type})) (error (c) (values (intern (string (type-of c)) :cl-user))))`,
      );
      expect(await failure(`(error '${type})`)).toBe(
        `Error: #<${name}: printing it signalled ${signalled}>\nType: ${type}`,
      );
    },
  );
});

describe('the beginning of the text', () => {
  test.each([
    ['(car 1)', 'The value 1 is not of type LIST when binding LIST', 'COMMON-LISP::TYPE-ERROR'],
    ['(assert (= 1 2))', 'The assertion (= 1 2) failed.', 'COMMON-LISP::SIMPLE-ERROR'],
    [
      '(sb-sys:sap-ref-8 (sb-sys:int-sap 0) 0)',
      'Unhandled memory fault at #x0.',
      'SB-SYS::MEMORY-FAULT-ERROR',
    ],
    [
      "(invoke-debugger (make-condition 'warning))",
      'Condition WARNING was signalled.',
      'COMMON-LISP::WARNING',
    ],
  ])('of %s is what it says and its type', async (form, says, type) => {
    const text = await failure(form);
    expect(text.startsWith(`Error: ${says}`)).toBe(true);
    expect(text.match(/^Type: .*$/m)?.[0]).toBe(`Type: ${type}`);
  });

  test('of the exhausted heap', async () => {
    const text = await failure('(make-array 100000000000)');
    expect(text).toMatch(/^Error: Heap exhausted\b/);
    expect(text).toContain('\nType: SB-KERNEL::HEAP-EXHAUSTED-ERROR');
  });
});

describe('conditions that cannot be shown', () => {
  test('a report function that writes without end is bounded', async () => {
    await session.eval(
      '(define-condition long-report (error) () (:report (lambda (c s) (declare (ignore c)) (loop (princ "long " s)))))',
    );
    const text = await failure("(error 'long-report)");
    expect(text.length).toBeLessThan(10_000);
    expect(text).toMatch(/^Error: long long .*\.\.\.\nType: COMMON-LISP-USER::LONG-REPORT$/s);
  });

  test('a print-object that fails, of the value', async () => {
    await session.eval(
      '(defclass sour () ()) (defmethod print-object ((x sour) s) (declare (ignore s)) (error "cannot print"))',
    );
    for (const form of ["(make-instance 'sour)", "(list 1 (make-instance 'sour))"]) {
      const text = await failure(form);
      expect(text).toMatch(/^Error: cannot print\nType: COMMON-LISP::SIMPLE-ERROR\n/);
    }
    // The value is there although it could not be shown.
    await session.call('eval_form', { form: "(make-instance 'sour)" });
    expect(await session.eval("(typep * 'sour)")).toBe('T');
  });

  test('a print-object that fails, of an argument in a frame', async () => {
    await session.eval(
      '(defclass acid () ()) (defmethod print-object ((x acid) s) (declare (ignore s)) (error "no")) (defun takes (x) (declare (optimize debug)) (let ((y (list x))) (error "taken ~D" (length y))))',
    );
    const text = await failure("(takes (make-instance 'acid))");
    expect(text).toMatch(/^Error: taken 1\n/);
    expect(text).toContain('(COMMON-LISP-USER::TAKES #<COMMON-LISP-USER::ACID>)');
  });

  test('an error in a restart’s report', async () => {
    const text = await failure(
      '(restart-case (error "outer") (odd () :report (lambda (s) (declare (ignore s)) (error "inner")) 1))',
    );
    expect(text).toMatch(/^Error: outer\n/);
    expect(text).toContain('\n  ODD: ');
  });
});

describe('frames', () => {
  test('are those of the program, newest first, with their arguments', async () => {
    await session.eval(
      '(defun inner (x) (error "at ~a" x) x) (defun middle (x) (inner (1+ x)) x) (defun outer (x) (middle (* 2 x)) x)',
    );
    expect(await failure('(outer 3)')).toBe(
      'Error: at 7\nType: COMMON-LISP::SIMPLE-ERROR\n\nFrames:\n' +
        '  0: (COMMON-LISP-USER::INNER 7)\n  1: (COMMON-LISP-USER::MIDDLE 6)\n  2: (COMMON-LISP-USER::OUTER 3)',
    );
  });

  test('of the backend itself are not shown', async () => {
    for (const form of [
      '(error "plain")',
      '(outer 1)',
      '(car 1)',
      '(read)',
      '(mapcar (function car) (list 1))',
    ]) {
      expect(await failure(form)).not.toContain('LIVE-LISP');
    }
  });

  test('have short arguments', async () => {
    await session.eval('(defun takes-much (x) (cerror "Go on." "much") x)');
    const text = await failure('(takes-much (make-list 100000))');
    expect(text).toContain('(COMMON-LISP-USER::TAKES-MUCH (NIL NIL NIL NIL NIL ...))');
  });
});

describe('half way', () => {
  test('the forms before stay done, and their values are shown', async () => {
    const text = await failure(
      '(defun kept-one () 1) (values 1 2) (values) (error "fourth") (defun never () 1)',
    );
    expect(text).toBe(
      'Error: fourth\nType: COMMON-LISP::SIMPLE-ERROR\nIn: form 4\n\n' +
        'Values of the forms before the failed one:\n[1] KEPT-ONE\n[2] 1\n    2\n[3] ; No values',
    );
    expect(await session.eval("(list (kept-one) (fboundp 'never))")).toBe('(1 NIL)');
  });

  test('a form that was compiled with an error is told before one that fails for it', async () => {
    const text = await session.eval(
      '(defun fits () 1)\n(defun malformed (x) (let ((y x x)) y))\n(list (fits) (malformed 2))',
    );
    expect(text).toMatch(
      /^Error: form 2, \(DEFUN MALFORMED\), was compiled with an error: The LET binding spec \(Y X X\) is malformed\.\nThen form 3 failed: Execution of a form compiled with errors\.\n/,
    );
    expect(text).toContain('\nIn: form 3\n');
  });

  test('a condition that a cleanup form signals is told, and get_last_error has both', async () => {
    expect(await failure('(unwind-protect (error "first") (error "second"))')).toMatch(
      /^Error: second\nType: COMMON-LISP::SIMPLE-ERROR$/,
    );
    await session.eval('1');
    expect(await session.text('get_last_error')).toMatch(/^Error: second\n/);
    expect(await session.text('get_last_error', { index: 1 })).toMatch(/^Error: first\n/);
    await session.eval('(defvar *begun* nil)');
    const form = '(unwind-protect (progn (setf *begun* t) (loop)) (error "after the interrupt"))';
    const loops = session.call('eval_form', { form });
    await until('the loop', 10_000, async () => (await session.eval('*begun*')) === 'T');
    await session.call('interrupt');
    expect((await loops).text).toMatch(/^Error: after the interrupt\n/);
  });

  test('a debugger hook of the program is asked first', async () => {
    const form =
      '(let ((*debugger-hook* (lambda (c h) (declare (ignore h)) (throw :out (princ-to-string c))))) (catch :out (error "hooked")))';
    expect(await session.eval(form)).toBe('"hooked"');
  });

  test('a restart that the program invokes itself is no condition', async () => {
    const form = '(handler-bind ((error (lambda (c) (use-value 5 c)))) (list *never-bound*))';
    expect(await session.eval(form)).toMatch(/^\(5\)/);
  });

  test('a form that ends its thread ends the call, whose text does not claim that it was interrupted', async () => {
    const text = await failure('(sb-thread:abort-thread)');
    expect(text).toMatch(/^Error: /);
    expect(text).not.toContain('did not react');
  });
});
