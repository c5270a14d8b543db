// inspect: the parts of any object, by name, id and path.

import { describe, expect, test } from 'vitest';
import { NO_SYSTEMS } from '../harness.ts';
import { ownSession, sharedSession } from '../shared.ts';

const session = sharedSession(
  {},
  `(defclass acceptor () ((port :initarg :port) (name :initform "n") other))
     (defstruct point x (y 2))
     (defvar *server* (make-instance 'acceptor :port (make-point :x (list 1 (vector 2 3)))))
     (defvar *table* (make-hash-table))
     (setf (gethash 10 *table*) :ten (gethash 9 *table*) :nine)`,
);

const inspect = async (value: string, more: Record<string, unknown> = {}) =>
  (await session.text('inspect', { value, ...more })).replace(/@\d+/g, '@N').replace(/\{[0-9A-F]+\}/g, '{A}');

test('an instance tells its slots, and which is not bound', async () => {
  expect(await inspect('*server*')).toBe(
    '#<COMMON-LISP-USER::ACCEPTOR PORT #S(COMMON-LISP-USER::POINT :X (1 #) :Y 2) NAME "n">  @N\n' +
      'Type: COMMON-LISP-USER::ACCEPTOR, 3 parts\n\n' +
      '  PORT = #S(COMMON-LISP-USER::POINT :X (1 #(2 3)) :Y 2)  @N\n  NAME = "n"\n  OTHER = (unbound)',
  );
});

test('slots are told of a class without a package or name, in a locked package, or of functions', async () => {
  await session.eval(
    `(defpackage :closed (:use :cl) (:lock t))
     (sb-ext:without-package-locks (eval (read-from-string "(defclass closed::door () ((open :initform 1)))")))
     (defclass command () ((key :initform 1)) (:metaclass sb-mop:funcallable-standard-class))
     (defun made (class) (make-instance class))
     (defvar *unnamed* (make-instance 'standard-class :direct-superclasses (list (find-class 'acceptor))))`,
  );
  expect(
    await session.eval('(made (eval `(defclass ,(make-symbol "LONE") () ((a :initform 1)))))'),
  ).toContain('#<#:LONE');
  expect(await inspect('*')).toContain('\n  A = 1');
  await session.eval('(made *unnamed*)');
  expect(await inspect('*')).toContain('\n  PORT = (unbound)\n  NAME = "n"');
  await session.eval("(made 'closed::door)");
  expect(await inspect('*')).toMatch(/^#<CLOSED::DOOR OPEN 1> .*\n {2}OPEN = 1$/s);
  await session.eval("(made 'command)");
  expect(await inspect('*')).toMatch(/\n {2}KEY = 1\n {2}function = #<FUNCTION /);
  await session.eval('*readtable*');
  expect(await inspect('*')).toContain('\n  %READTABLE-CASE = :UPCASE');
});

test('a slot of a structure without a value hides no other', async () => {
  await session.eval('(defstruct (begun (:constructor make-begun (&aux a))) (a 0 :type cons) (b 4))');
  await session.eval('(make-begun)');
  expect(await inspect('*')).toContain('\n  A = (unbound)\n  B = 4');
});

test('a structure that was made before its class was redefined is told to be that', async () => {
  await session.eval(
    `(defstruct leaf a (b 0 :type fixnum))
     (defvar *leaf* (make-leaf :a 1 :b 2))
     (handler-bind ((error (lambda (condition) (declare (ignore condition)) (invoke-restart 'continue))))
       (eval '(defstruct leaf a (b 0 :type fixnum) c)))`,
  );
  // SBCL prints some of them, and newer SBCLs say of others that they cannot be printed.
  expect((await inspect('*leaf*')).replace(/^.*/, '')).toBe(
    '\nType: COMMON-LISP-USER::LEAF, 3 parts\n\n' +
      ['A', 'B', 'C'].map((name) => `  ${name} = (made before its class was redefined)`).join('\n'),
  );
  expect(await session.text('inspect', { value: '*leaf*', path: ['a'] })).toMatch(
    /^The part a of .* cannot be shown: made before its class was redefined\.$/,
  );
  expect(await session.call('eval_form', { form: '*leaf*' })).toMatchObject({ isError: false });
});

test('a path leads to a part of any depth, and an id to the same', async () => {
  expect(await inspect('*server*', { path: ['port', 'x', '1'] })).toBe(
    '#(2 3)  @N\nType: (SIMPLE-VECTOR 2), 2 parts\n\n  0 = 2\n  1 = 3',
  );
  const [, id = ''] = /PORT = .* (@\d+)/.exec(await session.text('inspect', { value: '*server*' })) ?? [];
  expect(await inspect(id, { path: ['Y'] })).toBe('2\nType: (INTEGER 0 4611686018427387903)');
});

describe('what it looks into', () => {
  test.each([
    ['*table*', '  9 = :NINE\n  10 = :TEN'],
    ['make-point', '  parameters = (&KEY '],
    ["#'print-object", '  parameters = (SB-PCL::OBJECT STREAM)'],
    ["'*server*", '  value = #<COMMON-LISP-USER::ACCEPTOR'],
    ['*standard-output*', 'CAPTURE = #<LIVE-LISP.BASE::CAPTURE {'],
  ])('%s', async (value, text) => {
    expect(await inspect(value)).toContain(text);
  });

  test.each([
    ['(let ((n 5)) (lambda () (incf n)))', '  closed-over 0 = '],
    ['(let ((l (list 1 2))) (setf (cddr l) l) l)', '  1 = 2\n  circular = '],
    ["(make-array '(2 2) :initial-element 0)", '  1 1 = 0'],
    ["(make-condition 'type-error :datum 5)", '  DATUM = 5'],
    ['(let ((p (make-package "SOON-GONE"))) (delete-package p) p)', '  deleted = T'],
  ])('the value of %s', async (form, text) => {
    await session.eval(form);
    expect(await inspect('*')).toContain(text);
  });
});

test('long lists are told in parts', async () => {
  await session.eval('(loop for n below 3000 collect n)');
  expect(await inspect('*', { offset: 2998 })).toMatch(/3000 parts\n\n {2}2998 = 2998\n {2}2999 = 2999$/);
  expect(await inspect('*', { limit: 1 })).toMatch(/\n {2}0 = 0\n {2}\.\.\.$/);
});

test('an object with more parts than are listed is told to have more, and a long list ends in its tail', async () => {
  const more = 'more than 100000 parts; only the first 100000 can be listed\n';
  for (const form of [
    '(make-list 100003)',
    '(make-array 100001)',
    "(make-array '(2 60000))",
    '(let ((h (make-hash-table))) (dotimes (n 100001 h) (setf (gethash n h) n)))',
  ]) {
    await session.eval(`(defparameter *long* ${form})`);
    expect(await session.text('inspect', { value: '*long*', limit: 1 })).toContain(more);
  }
  await session.eval('(defparameter *long* (make-list 100003))');
  expect(await session.text('inspect', { value: '*long*', path: ['tail'] })).toContain('CONS, 3 parts\n');
});

test('a value that was cut has an id', async () => {
  const [, id = ''] =
    /inspect takes it as (@\d+)\./.exec(await session.eval('(loop for n below 3000 collect n)')) ?? [];
  expect(await inspect(id)).toContain('3000 parts');
});

test('an id keeps nothing alive', async () => {
  const [, id = ''] =
    /value that (@\d+)|(@\d+)/.exec(
      await session.text('inspect', { value: '*server*', path: ['port', 'x'] }),
    ) ?? [];
  const there =
    (await session.text('inspect', { value: '*server*', path: ['port'] })).match(/@\d+/)?.[0] ?? id;
  await session.eval(
    '(setf (slot-value *server* (quote port)) nil) (sb-sys:scrub-control-stack) (gc :full t) 1',
  );
  await session.eval('(list 1) (list 2) (list 3) (gc :full t) 1');
  expect(await session.text('inspect', { value: there })).toBe(
    `${there} is gone: the object was garbage-collected, or the image was replaced. Look the object up again to get a new id.`,
  );
});

describe('what cannot be shown is told', () => {
  test.each([
    [{ value: '*table*', path: ['11'] }, '#<HASH-TABLE of 2> has no part 11: it has 9, 10.'],
    [{ value: '*server*', path: ['other'] }, /^The part other of #<.*> cannot be shown: unbound\.$/],
  ])('%j', async (args, text) => {
    const said = await session.text('inspect', args);
    if (typeof text === 'string') expect(said).toBe(text);
    else expect(said).toMatch(text);
  });
});

test("a function is meant by #' and by (SETF NAME), and tells the values of its variables", async () => {
  await session.eval(
    '(defun (setf whole) (new) new) (defparameter *counter* (let ((n 1) (l (list 2))) (lambda () (incf n) l)))',
  );
  expect(await inspect('(setf whole)')).toMatch(/^#<FUNCTION \(SETF COMMON-LISP-USER::WHOLE\)>/);
  expect(await inspect("#'whole")).toBe('There is no function COMMON-LISP-USER::WHOLE.');
  expect(await inspect('*counter*')).toMatch(/\n {2}closed-over 0 = 1\n {2}closed-over 1 = \(2\) {2}@/);
});

test('a key of a table can be given without its quotes or its package', async () => {
  await session.eval(
    '(defparameter *keys* (let ((h (make-hash-table :test (quote equal)))) (setf (gethash "a" h) 1 (gethash :b h) 2 (gethash (quote own) h) 3) h))',
  );
  for (const [key, value] of [
    ['a', '1'],
    ['b', '2'],
    ['own', '3'],
  ])
    expect(await session.text('inspect', { value: '*keys*', path: [key] })).toMatch(
      new RegExp(`^${value}\n`),
    );
});

test('parts have the same names whatever the printer of the session is set to, and no code of it runs', async () => {
  const own = await ownSession({ args: NO_SYSTEMS });
  await own.eval(
    `(progn (defvar *row* (coerce (loop for i below 12 collect (list i)) 'vector))
            (defvar *grid* (make-array '(2 11) :initial-element 7))
            (defvar *add* (let ((n 1)) (lambda () (incf n)))))`,
  );
  const calls = [
    { value: '*row*', path: ['10'] },
    { value: '*row*' },
    { value: '*grid*' },
    { value: '*add*' },
    { value: '*row*', path: ['11'], holders: true },
  ];
  const shown = async () => {
    const texts: string[] = [];
    for (const call of calls) texts.push((await own.text('inspect', call)).replace(/\{[0-9A-F]+\}/g, '{A}'));
    return texts;
  };
  const before = await shown();
  expect(before[2]).toContain('  0 10 = 7');
  expect(before[4]).toContain('  element 11 = ');
  await own.eval(
    `(progn (setf *print-base* 16 *print-radix* t *print-pretty* t)
            (dolist (type '(integer string symbol))
              (set-pprint-dispatch type (lambda (stream object)
                                          (declare (ignore object))
                                          (write-char #\\! stream)))))`,
  );
  expect(await shown()).toEqual(before);
});

test('no print method of the program runs; a structure without one is printed as in a REPL', async () => {
  await session.eval(
    `(defvar *printed* '())
     (defclass bad () ((a :initform (vector 1)))) (defmethod print-object ((b bad) s) (push b *printed*) (error "No."))
     (defmethod print-object ((s hash-table) stream) (push s *printed*) (princ "table" stream))
     (defstruct (odd (:print-function (lambda (o s d) (declare (ignore d)) (push o *printed*) (princ "odd" s)))) x)
     (set-pprint-dispatch 'vector (lambda (s o) (push o *printed*) (princ "vector" s)))
     (defvar *all* (list (make-instance 'bad) (make-hash-table) (make-odd) (make-point)))`,
  );
  const shown =
    '#<COMMON-LISP-USER::BAD A #(1)>, #<HASH-TABLE of 0>, #<COMMON-LISP-USER::ODD X NIL>, #S(COMMON-LISP-USER::POINT :X NIL :Y 2)';
  const text = await inspect('*all*');
  expect(text).toContain(
    shown
      .split(', ')
      .map((part, at) => `  ${at} = ${part}  @N`)
      .join('\n'),
  );
  const value = /Value: \((.*)\)/.exec(await session.text('describe_symbol', { symbol: '*all*' }))?.[1];
  expect(value).toBe(shown.replaceAll(', ', ' ').replaceAll('COMMON-LISP-USER::', ''));
  expect(await session.text('eval_form', { form: '*printed*' })).toContain('NIL');
});
