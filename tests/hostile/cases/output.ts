// Output without end, input that never comes, and the debugger.

import { type Group, INTERRUPTED, lost } from '../case.ts';

const INTERRUPTED_WITH_OUTPUT = new RegExp(
  `${INTERRUPTED.source}[\\s\\S]*\\n\\nOutput:\\n[\\s\\S]+characters left out`,
);
const END_OF_FILE = /^Error: end of file on /;

export const OUTPUT: Group = {
  title: 'Output, input and the debugger',
  cases: [
    {
      name: 'output without end and without a line break',
      form: '(loop (princ "x"))',
      says: INTERRUPTED_WITH_OUTPUT,
    },
    { name: 'output to the stdout of SBCL', form: '(loop (print 1 sb-sys:*stdout*))', says: INTERRUPTED },
    {
      name: 'output of a child process without end',
      form: '(sb-ext:run-program "/bin/sh" (list "-c" "yes") :output t)',
      says: INTERRUPTED,
    },
    {
      name: 'output of threads that nobody waits for',
      form: '(progn (loop repeat 2 do (sb-thread:make-thread (lambda () (loop (print 1))))) :made)',
      succeeds: true,
      says: /^:MADE/,
      spoils: true,
    },
    {
      name: 'different warnings without end',
      form: '(loop for i from 0 do (warn "again ~d" i))',
      says: INTERRUPTED,
    },
    {
      name: 'a print method without end',
      before:
        '(defclass babbler () ()) (defmethod print-object ((x babbler) s) (loop (write-string "blah " s)))',
      form: "(make-instance 'babbler)",
      succeeds: true,
      says: /^blah blah [\s\S]*cut here/,
    },
    {
      name: 'a report function without end',
      endless: true,
      before:
        '(define-condition babbling (error) () (:report (lambda (c s) (declare (ignore c)) (loop (write-string "blah " s)))))',
      form: "(error 'babbling)",
      says: /^Error: blah /,
    },
    {
      name: 'characters that no encoding has',
      form: '(princ (string (code-char #xd800)))',
      succeeds: true,
      says: /^"/,
    },
    {
      name: 'what looks like a protocol message',
      form: '(progn (format sb-sys:*stdout* "{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"result\\":{}}~%") (sb-ext:run-program "/bin/echo" (list "{}") :output t) 1)',
      succeeds: true,
      says: /^1/,
    },
    { name: '(read)', form: '(read)', says: END_OF_FILE },
    {
      name: '(read-byte) of descriptor 0',
      form: '(read-byte (sb-sys:make-fd-stream 0 :element-type (quote (unsigned-byte 8))))',
      says: END_OF_FILE,
    },
    {
      name: 'enable-debugger, then an error in a thread',
      form: '(sb-ext:enable-debugger) (sb-thread:join-thread (sb-thread:make-thread (lambda () (error "in a thread"))) :default :ended)',
      succeeds: true,
      says: /:ENDED/,
    },
    {
      name: 'the global *invoke-debugger-hook* set to nil from a thread, then an error in another',
      form: '(progn (sb-thread:join-thread (sb-thread:make-thread (lambda () (setf sb-ext:*invoke-debugger-hook* nil)))) (sb-thread:join-thread (sb-thread:make-thread (lambda () (error "in a thread"))) :default :ended))',
      says: /:ENDED/,
      succeeds: true,
    },
    {
      name: '*break-on-signals* for everything',
      form: '(setf *break-on-signals* t) (ignore-errors (error "broken on"))',
      says: /^Error: /,
      probe: ['(progn (setf *break-on-signals* nil) :off)', /^:OFF/],
    },
    {
      name: 'abort',
      form: '(abort)',
      says: /^Error: The call was ended by its ABORT restart before it had a value\./,
    },
    {
      name: '(sb-thread::%unwind-current-thread)',
      form: "(throw 'sb-impl::%end-of-the-world t)",
      says: /^Error: /,
    },
    {
      name: 'the stepper',
      before: '(defun stepped (x) (declare (optimize (debug 3))) (let ((y (1+ x))) (* y y)))',
      form: '(step (stepped 1))',
      says: /^Error: /,
    },
    { name: 'the REPL of SBCL', form: '(sb-impl::toplevel-repl nil)', says: INTERRUPTED },
    {
      name: 'ldb',
      form: '(sb-alien:alien-funcall (sb-alien:extern-alien "lose" (function sb-alien:void sb-alien:c-string)) "told to")',
      says: lost('its runtime gave up: told to'),
      image: 'replaced',
    },
  ],
};
