// What our code that runs in SBCL's debugger hook makes of conditions, restarts and threads that fail in it: no call waits there
// for a person, and the error that is told is the program's.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedSession } from '../shared.ts';

const session = sharedSession(
  {},
  `(progn
    (defclass breaking () ())
    (defmethod print-object ((object breaking) stream) (break "In a print method."))
    (defclass babbling () ())
    (defmethod print-object ((object babbling) stream) (loop (write-string "bla" stream)))
    (define-condition bad (error) () (:report (lambda (condition stream) (break "In a report: ~a ~a" condition stream))))
    (defmacro my-quote (x) (list 'quote x))
    (defun fails (x) (list (error "Plain ~a." x)))
    (defgeneric note (c) (:method ((c error)) (list (error "Boom."))))
    (defun caller () (list (note (make-condition 'error)))))`,
);

const CIRCULAR = '(let ((l (list 1))) (setf (cdr l) l))';

/** A form, the restarts that are chosen, and how the answer begins. */
const CASES: readonly (readonly [form: string, restarts: readonly string[], answer: string])[] = [
  [
    '(fails 1)',
    [],
    'Error: Plain 1.\nType: COMMON-LISP::SIMPLE-ERROR\n\nFrames:\n  0: (COMMON-LISP-USER::FAILS 1)',
  ],
  [
    `(sb-thread:join-thread (sb-thread:make-thread (lambda () (error 'unbound-variable))) :default :ended)`,
    [],
    ':ENDED',
  ],
  [
    '(error \'simple-error :format-control "x" :format-arguments 5)',
    [],
    'Error: #<SIMPLE-ERROR: printing it signalled ',
  ],
  ['(list (handler-case (error "~a" (make-instance \'breaking)) (error () 1)))', [], '(1)'],
  [
    "(let ((*break-on-signals* 'error)) (invoke-debugger (make-condition 'unbound-variable)))",
    [],
    'Error: #<UNBOUND-VARIABLE: printing it signalled ',
  ],
  [`(error 'undefined-function :name ${CIRCULAR})`, [], 'Error: The function (1 1 1 '],
  [
    '(restart-case (error "The true error.") (foo () :test (lambda (c) (error "No: ~a" c)) 1))',
    [],
    'Error: The true error.\nType: COMMON-LISP::SIMPLE-ERROR',
  ],
  [
    '(caller)',
    [],
    'Error: Boom.\nType: COMMON-LISP::SIMPLE-ERROR\n\nFrames:\n  0: ((:METHOD COMMON-LISP-USER::NOTE (ERROR)) ',
  ],
  ['(car (my-quote #1=(a . #1#)))', [], 'A'],
  [
    '(restart-bind ((go-on (lambda () (error "The second.")))) (error "The first."))',
    ['GO-ON'],
    'Error: The second.\nType: COMMON-LISP::SIMPLE-ERROR',
  ],
  [
    '(let ((n 0)) (restart-bind ((again (lambda () (error "n ~d" (incf n))))) (error "x")))',
    ['AGAIN'],
    'Error: n 1\nType: COMMON-LISP::SIMPLE-ERROR',
  ],
  [
    '(defmacro ignoring (form) (declare (ignore form)) 1) (ignoring #1=(setq a 1 . #1#))',
    [],
    '[1] IGNORING\n[2] 1',
  ],
  ["(ensure-generic-function 'no-pairs :lambda-list)", [], 'Error: odd number of &KEY arguments'],
  ['(list #.(error "~a" (make-instance \'babbling)))', [], 'Error: form 1 cannot be read: blabla'],
  [
    `(sb-thread:join-thread
       (sb-thread:make-thread
         (lambda ()
           (let ((*debugger-hook* (lambda (c h) (declare (ignore c h)) (invoke-restart 'use-it 42))))
             (restart-case (error "x") (use-it (v) v)))))
       :default :ended)`,
    [],
    '42',
  ],
];

describe.each([false, true])('while errors are watched: %s', (watched) => {
  beforeAll(async () => {
    if (watched) await session.call('debug', { watch: 'all' });
  });
  afterAll(() => session.call('debug', { unwatch: true }));

  test.each(CASES)('%s with %o', async (form, restarts, answer) => {
    const { text } = await session.call('eval_form', { form, restarts, timeout: 20 });
    expect(text.slice(0, answer.length)).toBe(answer);
  });
});

test('of many restarts that were taken the first are told, and how many more', async () => {
  const form = '(dotimes (i 25 :done) (cerror "Go." "Error ~d." i))';
  const { text } = await session.call('eval_form', { form, restarts: ['CONTINUE'] });
  const lines = text.split('\n');
  expect([lines[0], ...lines.slice(19)]).toEqual([
    'Took the restart CONTINUE: Error 0.',
    'Took the restart CONTINUE: Error 19.',
    '... 5 more restarts were taken',
    '',
    ':DONE',
  ]);
});
