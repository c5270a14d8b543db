// Processes that outlive the call, and the environment of the image's own.

import { type Group, lost } from '../case.ts';

export const PROCESSES: Group = {
  title: 'Other processes, and the environment',
  cases: [
    {
      name: 'a process that forked twice',
      form: '(sb-ext:process-exit-code (sb-ext:run-program "/bin/sh" (list "-c" "(setsid sh -c \'sleep 1000 & sleep 1000\' &) ; exit 0") :output t))',
      succeeds: true,
      says: /^0/,
    },
    {
      name: 'processes left behind by an image that ends',
      form: '(progn (sb-ext:run-program "/usr/bin/setsid" (list "-f" "sleep" "1000") :output t) (exit :abort t))',
      says: lost('it exited with code 1'),
      image: 'replaced',
    },
    {
      name: 'the working directory elsewhere',
      form: '(progn (sb-alien:alien-funcall (sb-alien:extern-alien "chdir" (function sb-alien:int sb-alien:c-string)) "/") :done)',
      succeeds: true,
      says: /^:DONE/,
    },
    {
      name: 'the environment cleared',
      form: '(progn (sb-alien:alien-funcall (sb-alien:extern-alien "clearenv" (function sb-alien:int))) :done)',
      succeeds: true,
      says: /^:DONE/,
    },
    {
      name: 'a limit of address space that is used up',
      form: '(progn (sb-alien:alien-funcall (sb-alien:extern-alien "setrlimit" (function sb-alien:int sb-alien:int (* t))) 9 (let ((r (sb-alien:make-alien (sb-alien:unsigned 64) 2))) (setf (sb-alien:deref r 0) 1000 (sb-alien:deref r 1) 1000) r)) :done)',
      succeeds: true,
      says: /^:DONE/,
      spoils: true,
    },
    {
      name: 'the cache of compiled files filled with garbage',
      long: true,
      form: '(progn (sb-ext:run-program "/bin/sh" (list "-c" "for f in \\"$XDG_CACHE_HOME\\"/live-lisp/*.fasl; do echo garbage > \\"$f\\"; done")) (exit :abort t))',
      says: lost('it exited with code 1'),
      image: 'replaced',
      recompiles: true,
    },
  ],
};
