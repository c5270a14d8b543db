// Errors that are held, with code in their frames, their restarts and their printers that would hurt.

import { type Group, INTERRUPTED } from '../case.ts';

/** An error below a function whose frame keeps its variable. */
const FAILING = '(progn (defun takes (b) (error "Bad ~a." b) b) (list (takes 1)))';
const SECONDS = 0.5;

/** Returns what makes a call of debug about the held error with MORE, the form in the place of `$`. */
function debug(more: Record<string, unknown>, seconds = SECONDS) {
  return { name: 'debug', args: { error: '#', timeout: seconds, ...more } };
}

const STILL_HELD = /\n\nError \d+ is still held\./;

function stays(start: RegExp): RegExp {
  return new RegExp(`${start.source}[\\s\\S]*${STILL_HELD.source}`);
}

export const HELD: Group = {
  title: 'Errors that are held',
  cases: [
    {
      name: 'endless recursion in a frame',
      form: '(labels ((f (x) (1+ (f x)))) (f b))',
      held: FAILING,
      tool: debug({ eval: '$' }, 5),
      seconds: 5,
      says: stays(/^Error: Control stack exhausted/),
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
      name: 'a cleanup form that never ends, of a call that is ended',
      form: '(unwind-protect (error "No.") (loop))',
      held: '(unwind-protect (error "No.") (loop))',
      tool: debug({ end: true }),
      says: INTERRUPTED,
    },
    {
      name: 'a hundred threads that signal while errors are held',
      form: `(let ((threads '()))
  (live-lisp:call-tool :debug :watch "storm" :hold t)
  (unwind-protect
       (progn (dotimes (i 100)
                (push (sb-thread:make-thread (lambda () (ignore-errors (error "No."))) :name "storm") threads))
              (loop until (<= (count-if #'sb-thread:thread-alive-p threads) 10) do (sleep 0.01))
              t)
    (live-lisp:call-tool :debug :unwatch t)
    (dolist (thread threads) (ignore-errors (sb-thread:terminate-thread thread)))))`,
      seconds: 5,
      says: /^T$/,
      succeeds: true,
    },
  ],
};
