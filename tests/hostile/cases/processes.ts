// Processes that outlive the call, and the environment of the image's own.

import { type Group, lost } from '../case.ts';

export const PROCESSES: Group = {
  title: 'Other processes, and the environment',
  cases: [
    {
      name: 'a child process left behind',
      form: '(progn (sb-ext:run-program "/bin/sleep" (list "1000") :wait nil) :started)',
      succeeds: true,
      says: /^:STARTED/,
    },
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
      name: 'a process that stops its image',
      form: '(progn (sb-ext:run-program "/bin/sh" (list "-c" "[ $PPID -gt 1 ] && kill -STOP $PPID") :wait nil) (sleep 0.2) :still)',
      says: /^(?::STILL|Error: )/,
      succeeds: 'maybe',
      freezes: true,
    },
    {
      name: 'a process that kills its image',
      form: '(progn (sb-ext:run-program "/bin/sh" (list "-c" "[ $PPID -gt 1 ] && kill -9 $PPID") :wait nil) (sleep 1000))',
      says: lost('it was ended by SIGKILL'),
      image: 'replaced',
    },
    {
      name: 'a hundred child processes',
      long: true,
      form: '(progn (dotimes (i 100) (sb-ext:run-program "/bin/true" nil :wait nil)) :started)',
      seconds: 10,
      succeeds: true,
      says: /^:STARTED/,
    },
    {
      name: '*default-pathname-defaults* elsewhere',
      form: '(progn (setf *default-pathname-defaults* #p"/nowhere/") :done)',
      succeeds: true,
      says: /^:DONE/,
      probe: ['(progn (setf *default-pathname-defaults* #p"") 3)', /^3$/],
    },
    {
      name: 'the working directory elsewhere',
      form: '(progn (sb-alien:alien-funcall (sb-alien:extern-alien "chdir" (function sb-alien:int sb-alien:c-string)) "/") :done)',
      succeeds: true,
      says: /^:DONE/,
    },
    {
      name: 'a umask that forbids everything',
      form: '(sb-alien:alien-funcall (sb-alien:extern-alien "umask" (function sb-alien:int sb-alien:int)) 511)',
      succeeds: true,
      says: /^\d+/,
    },
    {
      name: 'HOME, PATH and TMPDIR elsewhere',
      form: '(progn (dolist (n (list "HOME" "PATH" "TMPDIR" "XDG_CACHE_HOME")) (sb-alien:alien-funcall (sb-alien:extern-alien "setenv" (function sb-alien:int sb-alien:c-string sb-alien:c-string sb-alien:int)) n "/nowhere" 1)) :done)',
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
      name: 'a limit of files of 0 octets',
      form: '(progn (sb-alien:alien-funcall (sb-alien:extern-alien "setrlimit" (function sb-alien:int sb-alien:int (* t))) 1 (let ((r (sb-alien:make-alien (sb-alien:unsigned 64) 2))) (setf (sb-alien:deref r 0) 0 (sb-alien:deref r 1) 0) r)) :done)',
      succeeds: true,
      says: /^:DONE/,
      spoils: true,
    },
    {
      name: 'a limit of CPU time of one second',
      long: true,
      form: '(progn (sb-alien:alien-funcall (sb-alien:extern-alien "setrlimit" (function sb-alien:int sb-alien:int (* t))) 0 (let ((r (sb-alien:make-alien (sb-alien:unsigned 64) 2))) (setf (sb-alien:deref r 0) 1 (sb-alien:deref r 1) 1) r)) (loop))',
      seconds: 5,
      says: /^Error: The Lisp image was lost/,
      image: 'replaced',
    },
    {
      name: 'a limit of address space that is used up',
      form: '(progn (sb-alien:alien-funcall (sb-alien:extern-alien "setrlimit" (function sb-alien:int sb-alien:int (* t))) 9 (let ((r (sb-alien:make-alien (sb-alien:unsigned 64) 2))) (setf (sb-alien:deref r 0) 1000 (sb-alien:deref r 1) 1000) r)) :done)',
      succeeds: true,
      says: /^:DONE/,
      spoils: true,
    },
    {
      name: 'the cache of compiled files deleted',
      long: true,
      form: '(progn (sb-ext:run-program "/bin/sh" (list "-c" "rm -rf \\"$XDG_CACHE_HOME\\"")) (exit :abort t))',
      says: lost('it exited with code 1'),
      image: 'replaced',
      recompiles: true,
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
