// Forms that end the process.

import { type Group, lost } from '../case.ts';

export const ENDS: Group = {
  title: 'The end of the process',
  cases: [
    { name: '(exit)', form: '(exit)', says: lost('it exited with code 0'), image: 'replaced' },
    {
      name: 'exit after a handled heap exhaustion',
      form: '(progn (handler-case (make-array 10000000000) (storage-condition ())) (sb-ext:exit :code 5 :abort t))',
      seconds: 5,
      says: lost('it exited with code 5'),
      image: 'replaced',
    },
    {
      name: 'exit under unwind-protect',
      form: '(unwind-protect (exit :code 4) (princ "cleaned"))',
      says: new RegExp(`${lost('it exited with code 4').source}[\\s\\S]*Output:\\ncleaned$`),
      image: 'replaced',
    },
    {
      name: 'exit whose cleanup form loops',
      endless: true,
      form: '(unwind-protect (exit :code 7) (loop))',
      says: lost('it exited with code 7'),
      image: 'replaced',
    },
    {
      name: 'exit in a thread',
      form: '(sb-thread:make-thread (lambda () (exit :code 9))) (sleep 1000)',
      seconds: 5,
      says: lost('it exited with code 9'),
      image: 'replaced',
    },
    {
      name: 'exit in a thread when there are no exit hooks',
      form: '(setf sb-ext:*exit-hooks* nil) (sb-thread:make-thread (lambda () (exit :code 9))) (sleep 1000)',
      seconds: 5,
      says: lost('it exited with code 9'),
      image: 'replaced',
    },
    {
      name: 'exit while another thread cannot be ended',
      long: true,
      form: '(progn (sb-thread:make-thread (lambda () (sb-sys:without-interrupts (loop)))) (sleep 0.1) (exit))',
      seconds: 5,
      says: /^Error: The Lisp image was lost during this call: /,
      image: 'replaced',
    },
    {
      name: 'abort of C',
      form: '(sb-alien:alien-funcall (sb-alien:extern-alien "abort" (function sb-alien:void)))',
      says: lost('its runtime gave up: SIGABRT received'),
      image: 'replaced',
    },
    {
      name: 'fork of C',
      form: '(zerop (sb-alien:alien-funcall (sb-alien:extern-alien "fork" (function sb-alien:int))))',
      succeeds: true,
      says: /^(?:NIL|T)$/,
    },
    {
      name: 'execv of C',
      form: '(sb-alien:alien-funcall (sb-alien:extern-alien "execl" (function sb-alien:int sb-alien:c-string sb-alien:c-string sb-alien:unsigned-long)) "/bin/sleep" "sleep" 0)',
      says: /^Error: /,
      image: 'replaced',
    },
  ],
};
