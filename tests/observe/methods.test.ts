// observe: the methods that a call of a generic function enters are recorded, in the order in which they run.

import { beforeAll, describe, expect, test } from 'vitest';
import { until } from '../server/processes.ts';
import { sharedProgram } from '../shared.ts';

const session = sharedProgram(
  'entered',
  `(defpackage :entered (:use :cl))
(in-package :entered)
(defclass thing () ((part :initform 1 :accessor part)))
`,
);

async function observe(args: Record<string, unknown>): Promise<string> {
  const { text } = await session.call('observe', { limit: 100, ...args });
  return text.replace(/\b\d+(\.\d+)? (ns|µs|ms|s)\b/g, 'N').replace(/ENTERED::/g, '');
}

/** Returns what observing has left at the generic functions NAMES, and at SBCL's function that TRACE uses too. */
const left = (...names: string[]) =>
  session.eval(
    `(list (sb-impl::encapsulation-info (sb-kernel:%coerce-name-to-fun 'sb-pcl::maybe-trace-method)) ${names.map((name) => `(sb-pcl::generic-function-encapsulations ${name})`).join(' ')})`,
  );

/** Returns a text for each row of TEXT: what it says of methods. */
const methodsIn = (text: string) =>
  text
    .split('\n')
    .filter((line) => /^ +\(/.test(line))
    .map((line) => line.replace(/^.*?(?:methods |$)|, in live-lisp .*$/g, ''));

describe('the methods of a call', () => {
  beforeAll(async () => {
    await session.eval(`(defgeneric down (n) (:method (n) :end)
        (:method ((n integer)) (when (plusp n) (down (1- n))) (call-next-method)) (:method :after ((n integer)) nil))
      (defgeneric fixed (x) (:method (x) 5))
      (defgeneric many (n) (:method ((n integer)) n)
        (:method :around ((n integer)) (dotimes (i 200 n) (call-next-method))))
      (defvar *stuck* nil)
      (defgeneric stuck (x) (:method (x) (setf *stuck* t) (loop (sleep 0.01))) (:method :before (x) (list x)))
      (defgeneric gone (x) (:method (x) (list x)) (:method ((x integer)) (list (call-next-method))))
      (defun call-all (n) (down n))`);
  });

  test.each([
    [
      'read or set a slot, or return a constant, are told though SBCL does that in line',
      {
        form: "(let ((thing (make-instance 'thing))) (setf (part thing) (fixed 1)) (part thing))",
        functions: ['part', '(setf part)', 'fixed'],
      },
      ['(X)', '(NEW-VALUE (THING THING))', '((THING THING))'],
    ],
    [
      'are told for each call of a recursion',
      { form: '(down 1)', functions: ['down'] },
      [
        '((N COMMON-LISP::INTEGER)) (N) :AFTER ((N COMMON-LISP::INTEGER))',
        '((N COMMON-LISP::INTEGER)) (N) :AFTER ((N COMMON-LISP::INTEGER))',
      ],
    ],
    [
      'are told up to an inner call that is not recorded',
      {
        form: '(down 1)',
        functions: ['down'],
        where: '(= n 1)',
      },
      ['((N COMMON-LISP::INTEGER)) ...'],
    ],
    [
      'are told when it calls functions that are not generic',
      {
        form: '(call-all 0)',
        functions: ['down', 'call-all'],
      },
      ['', '((N COMMON-LISP::INTEGER)) (N) :AFTER ((N COMMON-LISP::INTEGER))'],
    ],
  ])('%s', async (_, args, methods) => {
    expect(methodsIn(await observe(args))).toEqual(methods);
  });

  test('are none if code of the program calls none', async () => {
    await session.eval(`(defclass own-function (standard-generic-function) () (:metaclass sb-mop:funcallable-standard-class))
      (defmethod sb-mop:compute-discriminating-function ((function own-function)) (lambda (x) (list :own x)))
      (defgeneric owned (x) (:generic-function-class own-function) (:method (x) x))`);
    expect(await observe({ form: '(owned 1)', functions: ['owned'] })).toBe(
      '1 call in N.\n  (OWNED 1) => (:OWN 1)  N\n\nValue: (:OWN 1)',
    );
  });

  test('are told up to a limit', async () => {
    const text = await observe({ form: '(many 1)', functions: ['many'] });
    expect(text.match(/\(\(N COMMON-LISP::INTEGER\)\)/g)).toHaveLength(100);
    expect(text).toContain(
      ' ...\n\nNote: A list of methods that ends in ... may be incomplete: the call entered more than 100 methods, or another call of the function was not recorded.\n',
    );
  });

  test('are recorded for each of two that observe it at once', async () => {
    await session.eval(
      '(defvar *both* (sb-thread:make-semaphore)) (defvar *called* (sb-thread:make-semaphore))',
    );
    const calls =
      '(progn (sb-thread:wait-on-semaphore *both*) (down 0) (sb-thread:signal-semaphore *called*))';
    const waits = '(progn (sb-thread:signal-semaphore *both*) (sb-thread:wait-on-semaphore *called*))';
    const texts = await Promise.all([
      observe({ form: calls, functions: ['down'] }),
      observe({ form: waits, functions: ['down', 'call-all'] }),
    ]);
    for (const text of texts)
      expect(methodsIn(text)).toEqual(['((N COMMON-LISP::INTEGER)) (N) :AFTER ((N COMMON-LISP::INTEGER))']);
    expect(await left("#'down")).toBe('(NIL NIL)');
  });
});

describe('methods are as before', () => {
  test('when the call was ended', async () => {
    const observed = session.call('observe', { form: '(stuck 1)', functions: ['stuck'] });
    await until('the method', 10_000, async () => (await session.eval('*stuck*')) === 'T');
    await session.call('interrupt');
    const { text } = await observed;
    expect(text).toMatch(/^Error: Interrupted after /);
    expect(text).toContain('methods :BEFORE (X) (X)');
    expect(await left("#'stuck")).toBe('(NIL NIL)');
  });

  test('when the function was taken out of its name meanwhile', async () => {
    const form = "(progn (defvar *kept* #'gone) (gone 1) (fmakunbound 'gone) (funcall *kept* 2))";
    expect(await observe({ form, functions: ['gone'] })).toContain('Note: GONE: not a function any more.');
    expect(await left('*kept*')).toBe('(NIL NIL)');
    expect(await session.eval('(funcall *kept* 3)')).toBe('((3))');
  });

  test('while they are recorded, and behind it', async () => {
    const reported = `(loop for method in (sb-mop:generic-function-methods #'down)
      collect (list (sb-mop:method-function method) (function-keywords method) (sb-mop:method-lambda-list method)))`;
    await session.eval(`(defvar *told* ${reported})`);
    expect(
      await observe({ form: `(progn (down 1) (equal *told* ${reported}))`, functions: ['down'] }),
    ).toMatch(/Value: T$/);
    expect(await session.eval(`(equal *told* ${reported})`)).toBe('T');
  });
});
