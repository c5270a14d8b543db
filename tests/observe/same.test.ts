// observe: a program gives the same while all of its functions are recorded, whatever kinds of them call each other.

import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { cases } from '../long.ts';
import { sharedProgram } from '../shared.ts';

/** Each function notes that it ran, so that the order of all that happens is compared too. */
const PROGRAM = `(defpackage :same (:use :cl))
(in-package :same)
(defvar *log* '())
(defvar *deep* 0)
(defun note (thing) (push thing *log*))
(defun two (a b) (note :two) (values a b))
(defun none () (values))
(defun many (n) (values-list (loop repeat (mod n 40) for i from 0 collect i)))
(defun pass (a) (note (list :pass a)) a)
(defun leave (tag a) (note :leave) (throw tag a))
(defun escape (exit a) (funcall exit a))
(defun call-escaping (a) (block nil (unwind-protect (escape (lambda (x) (return (list :escaped x))) a) (note :unwound))))
(define-condition odd (error) ((what :initarg :what :reader what)) (:report (lambda (c s) (format s "odd ~S" (what c)))))
(defun fail (a) (restart-case (error 'odd :what a) (use-value (b) (note :used) (list :instead b))))
(defun warned (a) (warn "take care") (note :warned) a)
(defun keyed (a &key (b (note :default)) ((:see c) 3 c-p)) (list a b c c-p))
(defun optional (a &optional (b (list a)) &rest more &key &allow-other-keys) (list a b (length more)))
(defun rest-of (&rest all) (declare (dynamic-extent all)) (sum all))
(defun sum (list) (declare (list list)) (note :sum) (reduce (lambda (a b) (if (and (integerp a) (integerp b)) (+ a b) (list a b))) list :initial-value 0))
(defun nested (a b) (let ((inner (list a b))) (declare (dynamic-extent inner)) (length (pass-over (list* :of inner)))))
(defun pass-over (list) list)
(defun shown (a b) (let ((inner (list a b))) (declare (dynamic-extent inner)) (sum (car (pass-over (list inner))))))
(defstruct holder part)
(defun held (holder) (vector (cdr (holder-part holder)) 5))
(defun thread-nested ()
  (sb-thread:join-thread
   (sb-thread:make-thread
    (lambda () (let ((inner (list 1 2))) (declare (dynamic-extent inner)) (length (held (make-holder :part (list* 1 inner)))))))))
(defun recur (n) (if (plusp n) (cons n (recur (1- n))) '()))
(defun loop-on (n) (if (plusp n) (loop-on (1- n)) :end))
(defun specially (a) (let ((*deep* a)) (deep)))
(defun deep () *deep*)
(defun (setf spot) (new cell) (note :setf) (setf (car cell) new))
(defun spot (cell) (car cell))
(defun (setf spots) (new cell) (setf (cdr cell) new) (values new :more))
(declaim (ftype (function (integer) (values integer &optional)) typed))
(defun typed (n) (+ n 1))
(defun cleaning (a) (unwind-protect (pass a) (pass :clean)))
(defgeneric kind (a b)
  (:method (a b) (note :t) (list :any a b))
  (:method ((a integer) b) (note :integer) (list :integer (call-next-method)))
  (:method ((a (eql 3)) b) (if (next-method-p) (list :three (call-next-method a :changed)) :last))
  (:method :before ((a integer) b) (note :before))
  (:method :after (a (b string)) (note :after))
  (:method :around ((a string) b) (unwind-protect (values (call-next-method) :around) (note :around))))
(defgeneric listed (a) (:method-combination append)
  (:method append (a) (list a)) (:method append ((a integer)) (list :integer)))
(defgeneric totalled (a) (:method-combination + :most-specific-last) (:method + ((a integer)) 1) (:method + ((a number)) 10))
(defclass thing () ((part :initarg :part :accessor part)))
(defmethod initialize-instance :after ((thing thing) &key) (note :made))
(defmethod (setf part) :before (new (thing thing)) (note :set))
(defmethod no-applicable-method ((f (eql #'totalled)) &rest all) (list :none (length all)))
(defstruct pair one two)
(defun threaded (a) (sb-thread:join-thread (sb-thread:make-thread (lambda () (pass a))) :default :gone))
(defun again (n) (setf (fdefinition 'changing) (compile nil \`(lambda (x) (list ,n x)))) (changing n))
(defun changing (x) x)
(defun compose (f g a) (funcall f (funcall g a)))
(defun outcome (function)
  (setf *log* '())
  (let ((values (handler-bind ((warning #'muffle-warning))
                  (handler-case (multiple-value-list (catch :out (funcall function)))
                    (error (c) (list :error (type-of c) (remove #\\Newline (princ-to-string c))))))))
    (list values (reverse *log*))))
`;

const session = sharedProgram('same', PROGRAM);

/** Makes code of TEXTS with what PARTS give between them. */
function code(texts: TemplateStringsArray, ...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc.tuple(...parts).map((values) => String.raw({ raw: texts }, ...values));
}

const { expression } = fc.letrec<{ expression: string; call: string }>((tie) => {
  const e = tie('expression');
  const n = fc.integer({ min: 0, max: 6 }).map(String);
  const leaf = fc.constantFrom(
    '0',
    '3',
    '-7',
    '"text"',
    ':key',
    'nil',
    '2.5d0',
    "'sym",
    '(list 1 2)',
    '#\\a',
  );
  const one = fc.constantFrom("#'pass", "'listed", '(lambda (x) (pass x))', "'typed", "'spot");
  return {
    expression: fc.oneof({ maxDepth: 4, depthSize: 'medium' }, leaf, tie('call')),
    call: fc.oneof(
      code`(multiple-value-list (two ${e} ${e}))`,
      code`(multiple-value-call #'list (none) (many ${n}) (two ${e} 1))`,
      code`(pass ${e})`,
      code`(leave :out ${e})`,
      code`(list (catch :out (leave :out ${e})))`,
      code`(call-escaping ${e})`,
      code`(handler-case (fail ${e}) (odd (c) (list :handled (what c))))`,
      code`(handler-bind ((odd (lambda (c) (use-value (what c))))) (fail ${e}))`,
      code`(fail ${e})`,
      code`(warned ${e})`,
      code`(keyed ${e} ${fc.constantFrom('', ':b 1', ':see 2', ':see nil :b nil', ':wrong 1')})`,
      code`(optional ${e} ${fc.constantFrom('', '1', '1 :x 2')})`,
      code`(rest-of ${e} ${e} ${n})`,
      code`(nested ${e} ${e})`,
      code`(shown ${e} ${n})`,
      code`(recur ${n})`,
      code`(loop-on ${n})`,
      code`(specially ${e})`,
      code`(let ((cell (list 1 2))) (setf (spot cell) ${e}) cell)`,
      code`(let ((cell (list 1 2))) (list (multiple-value-list (setf (spots cell) ${e})) cell))`,
      code`(typed ${n})`,
      code`(typed ${e})`,
      code`(cleaning ${e})`,
      code`(multiple-value-list (kind ${e} ${e}))`,
      code`(listed ${e})`,
      code`(totalled ${e})`,
      code`(part (make-instance 'thing :part ${e}))`,
      code`(let ((thing (make-instance 'thing :part 1))) (incf (part thing) ${n}))`,
      code`(pair-one (make-pair :one ${e}))`,
      code`(threaded ${e})`,
      code`(again ${n})`,
      code`(mapcar ${one} (list 1 ${e}))`,
      code`(compose ${one} ${one} ${e})`,
      code`(unwind-protect ${e} (pass ${e}))`,
    ),
  };
});

test('what was on a stack is not looked at when it is gone', async () => {
  const text = await session.text('observe', {
    form: `(list (nested 1 2) (shown 3 4) (thread-nested))`,
    functions: ['pass-over', 'held'],
  });
  const gone = '#<gone from the stack>';
  expect(
    text
      .split('\n')
      .filter((line) => line.startsWith('  '))
      .map((line) => line.replace(/ {2}\d.*/, '')),
  ).toEqual([
    `  (PASS-OVER (:OF . ${gone})) => (:OF . ${gone})`,
    `  (PASS-OVER (${gone})) => (${gone})`,
    `  (HELD #<SAME::HOLDER PART (1 . ${gone})>) => #(${gone} 5)`,
  ]);
});

test('each form is evaluated before the next one is read', async () => {
  const form = '(defpackage :later (:use :cl)) (in-package :later) (cl-user::twice 2) #| the end |#';
  await session.eval('(defun cl-user::twice (x) (list (package-name *package*) x))');
  expect(await session.text('observe', { form, functions: ['cl-user::twice'], package: 'same' })).toMatch(
    /^1 call in .*\n.*\n\nValue: \("LATER" 2\)$/,
  );
  await session.eval('(in-package :same)');
  expect(await session.text('observe', { form: '1 (list 2', functions: ['pass'] })).toBe(
    'Error: form 2 cannot be read: the text ends inside this form\nThe form begins at line 1, column 3; reading stopped at line 1, column 10. Form 1 was evaluated.',
  );
});

test.each([
  ['(> a', 'the text ends inside this form'],
  ['; nothing', 'it has no form'],
])('where: %s does not compile', async (where, why) => {
  expect(await session.text('observe', { form: '1', functions: ['pass'], where })).toBe(
    `The where form does not compile for SAME::PASS: ${why}. The parameters of SAME::PASS are (A). Nothing was done.`,
  );
});

describe('hostile programs', () => {
  test('a printer that observes itself', async () => {
    await session.eval(`(defclass mirror () ())
      (defmethod print-object ((mirror mirror) stream)
        (princ (gethash "total" (live-lisp:call-tool "observe" :form "(same::pass 1)" :functions '("same::pass" "cl:print-object"))) stream)
        (write-string "mirror" stream))`);
    const text = await session.text('observe', {
      form: "(pass (make-instance 'mirror))",
      functions: ['pass', 'cl:print-object'],
    });
    expect(text).toMatch(/^\S* call.*\n {2}\(SAME::PASS #<SAME::MIRROR>\) => #<SAME::MIRROR>/);
    expect(text).toContain('Value: ');
  });

  test('threads that call, redefine, remove and trace it at once', async () => {
    const form = `(let ((threads (loop repeat 4 collect (sb-thread:make-thread (lambda () (dotimes (i 20000) (ignore-errors (pass i))))))))
      (dotimes (i 20)
        (handler-bind ((warning #'muffle-warning)) (eval '(defun pass (a) (note a) a)))
        (let ((function #'pass)) (fmakunbound 'pass) (setf (fdefinition 'pass) function))
        (let ((*trace-output* (make-broadcast-stream))) (eval '(trace pass)) (eval '(untrace pass))))
      (mapc #'sb-thread:join-thread threads)
      (eval '(defun pass (a) (note (list :pass a)) a))
      :done)`;
    const text = await session.text('observe', { form, functions: ['pass'], limit: 1 });
    expect(text).toContain('Value: :DONE');
    expect(await session.eval("(sb-impl::encapsulation-info (sb-kernel:%coerce-name-to-fun 'pass))")).toBe(
      'NIL',
    );
    expect(await session.eval('(pass 3)')).toBe('3');
  });

  test('functions of a package that is locked', async () => {
    await session.eval('(sb-ext:lock-package :same)');
    expect(await session.text('observe', { form: '(pass 4)', functions: ['pass'] })).toContain(
      '(SAME::PASS 4) => 4',
    );
    await session.eval('(sb-ext:unlock-package :same)');
  });

  test('a profile of a deep program takes at most 400 tokens', async () => {
    const calls = Array.from(
      { length: 40 },
      (_, i) =>
        `(defun layer-with-a-long-name-${i} (n) (1+ (${i === 39 ? 'busy' : `layer-with-a-long-name-${i + 1}`} n)))`,
    );
    await session.eval(
      `(defun busy (n) (let ((sum 0)) (dotimes (i n sum) (setf sum (mod (+ sum (* i i)) 1000003))))) ${calls.join(' ')}`,
    );
    const text = await session.text('observe', { form: '(layer-with-a-long-name-0 200000)', seconds: 1 });
    expect(text).toContain('BUSY');
    expect(countTokens(text), text).toBeLessThanOrEqual(400);
  });
});

test('a program gives the same while it is recorded', async () => {
  await fc.assert(
    fc.asyncProperty(expression, async (body) => {
      const form = `(outcome (lambda () ${body}))`;
      const plain = await session.eval(`(setf (fdefinition 'changing) (lambda (x) x)) ${form}`);
      const observed = await session.text('observe', {
        form: `(setf (fdefinition 'changing) (lambda (x) x)) ${form}`,
        functions: ['same:', 'cl:print-object', 'cl:make-instance'],
        limit: 500,
      });
      expect(observed).toContain('\n\nValue: ');
      const valueIn = (text: string) =>
        text.replace(/^[\s\S]*?(?:^\[2\]|^Value:) /m, '').replace(/\n\n[\s\S]*/, '');
      expect(valueIn(observed)).toBe(valueIn(plain));
    }),
    cases(20, 60),
  );
});

test('only the package that the first line names is left out of names', async () => {
  await session.eval(`(defpackage :my-same (:use)) (defun same::first-one (x) x) (defun same::second-one (x) x)
    (defun my-same::run () (declare (notinline same::first-one same::second-one))
      (list (same::first-one 1) (same::second-one 2)))`);
  const text = await session.text('observe', {
    form: '(my-same::run)',
    functions: ['same::first-one', 'same::second-one'],
  });
  expect(text).toMatch(/^2 calls of SAME in .*: FIRST-ONE 1, SECOND-ONE 1\.\n.*, by MY-SAME::RUN\n/);
});
