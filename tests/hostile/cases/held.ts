// Errors that are held, with code in their frames, their restarts and their printers that would hurt.

import { type Group, HEAP, INTERRUPTED, lost } from '../case.ts';

/** An error below a function whose frame keeps its variable. */
const FAILING = '(progn (defun takes (b) (error "Bad ~a." b) b) (list (takes 1)))';
const SECONDS = 0.5;

/** Returns what makes a call of debug about the held error with MORE, the form in the place of `$`. */
function debug(more: Record<string, unknown>, seconds = SECONDS) {
  return { name: 'debug', args: { error: '#', timeout: seconds, ...more } };
}

const EVALUATED = { held: FAILING, tool: debug({ eval: '$' }) };
const STILL_HELD = /\n\nError \d+ is still held\./;

function stays(start: RegExp): RegExp {
  return new RegExp(`${start.source}[\\s\\S]*${STILL_HELD.source}`);
}

export const HELD: Group = {
  title: 'Errors that are held',
  cases: [
    { name: 'a loop in a frame', form: '(loop)', ...EVALUATED, says: stays(INTERRUPTED) },
    {
      name: 'an error in a frame',
      form: '(error "Again ~a." b)',
      ...EVALUATED,
      says: stays(/^Error: Again 1\./),
    },
    {
      name: 'endless recursion in a frame',
      form: '(labels ((f (x) (1+ (f x)))) (f b))',
      held: FAILING,
      tool: debug({ eval: '$' }, 5),
      seconds: 5,
      says: stays(/^Error: Control stack exhausted/),
    },
    {
      name: 'a heap that is exhausted in a frame',
      form: '(let ((l b)) (loop (setf l (cons (make-array 100000) l))))',
      held: FAILING,
      tool: debug({ eval: '$' }, 20),
      seconds: 20,
      late: true,
      says: stays(HEAP),
    },
    {
      name: 'a form in a frame that ends its thread',
      form: '(sb-thread:abort-thread)',
      ...EVALUATED,
      says: /^Error: Its thread was ended by the code that ran in it/,
    },
    {
      name: 'a form in a frame that throws past the error',
      form: '(throw :out 3)',
      held: `(list (catch :out ${FAILING}))`,
      tool: debug({ eval: '$' }),
      succeeds: true,
      says: /^\(3\)$/,
    },
    {
      name: 'a form in a frame that ends the image',
      form: '(sb-ext:exit :code 3 :abort t)',
      ...EVALUATED,
      says: lost('it exited with code 3'),
      image: 'replaced',
    },
    {
      name: 'a frame whose caller cannot go on',
      form: '5',
      held: '(flet ((f () (error "No."))) (declare (notinline f)) (list (f)))',
      tool: debug({ frame: 0, return: '$' }),
      says: /^Frame 0 cannot be left that way: it is a local function/,
    },
    {
      name: 'a fix that does not compile',
      form: '(defun takes (b) (let ((x 1 2)) b))',
      held: FAILING,
      tool: debug({ frame: 0, fix: '$', retry: true }),
      says: /^The fix was evaluated, but has errors that signal when it runs\. Error \d+ is still held\./,
    },
    {
      name: 'a restart that never ends',
      form: 'spin',
      held: '(restart-case (error "No.") (spin () (loop)))',
      tool: debug({ restart: '$' }),
      says: INTERRUPTED,
    },
    {
      name: 'a restart with too many values',
      form: 'one',
      held: '(restart-case (error "No.") (one (a) a))',
      tool: debug({ restart: '$', values: ['1', '2'] }),
      says: /^Error: invalid number of arguments: 2[\s\S]*\nHeld as error/,
    },
    {
      name: 'a restart that asks the terminal',
      form: 'ask',
      held: '(restart-case (error "No.") (ask () (read *query-io*)))',
      tool: debug({ restart: '$' }),
      says: /^Error: end of file on/,
    },
    {
      name: 'a cleanup form that never ends, of a call that is ended',
      form: '(unwind-protect (error "No.") (loop))',
      held: '(unwind-protect (error "No.") (loop))',
      tool: debug({ end: true }),
      says: INTERRUPTED,
    },
    {
      name: 'a condition whose report never ends',
      form: '(progn (define-condition endless (error) () (:report (lambda (c s) (loop)))) (error (quote endless)))',
      tool: { name: 'eval_form', args: { form: '$', on_error: 'hold', timeout: SECONDS } },
      says: INTERRUPTED,
    },
    {
      name: 'a hundred threads that signal while errors are held',
      form: `(let ((threads '()))
  (live-lisp:call-tool :debug :watch "storm" :hold t)
  (unwind-protect
       (progn (dotimes (i 100)
                (push (sb-thread:make-thread (lambda () (ignore-errors (error "No."))) :name "storm") threads))
              (sleep 0.2)
              (<= (count-if #'sb-thread:thread-alive-p threads) 10))
    (live-lisp:call-tool :debug :unwatch t)
    (dolist (thread threads) (ignore-errors (sb-thread:terminate-thread thread)))))`,
      seconds: 5,
      says: /^T$/,
      succeeds: true,
    },
  ],
};
