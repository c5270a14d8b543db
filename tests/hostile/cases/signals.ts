// Forms that send a signal to the image itself, or change what signals do.

import { type Group, lost } from '../case.ts';

/** Sends SIGNAL, a Lisp expression, to the image itself. */
function signalled(signal: string): string {
  return `(progn (princ "before") (finish-output) (sb-unix:unix-kill (sb-unix:unix-getpid) ${signal}) (sleep 0.3) :still)`;
}

/** Sends SIGNAL, which ends the image, to the image itself. */
function fatal(signal: string): string {
  return signalled(signal).replace('(sleep 0.3)', '(sleep 1000)');
}

const KILLED = { image: 'replaced' as const };

export const SIGNALS: Group = {
  title: 'Signals',
  cases: [
    {
      name: 'SIGTERM',
      form: '(progn (sb-unix:unix-kill (sb-unix:unix-getpid) sb-unix:sigterm) (sleep 1000))',
      seconds: 5,
      says: lost('it exited with code 0'),
      ...KILLED,
    },
    { name: 'SIGKILL', form: fatal('sb-unix:sigkill'), says: lost('it was ended by SIGKILL'), ...KILLED },
    { name: 'SIGINT', form: signalled('sb-unix:sigint'), succeeds: true, says: /^:STILL/ },
    {
      // It stops a thread as for a garbage collection, and the system chooses which: without its reader the image is lost.
      // Newer SBCLs give up at once when it is a thread that only starts or ends.
      name: 'SIGUSR2',
      freezes: true,
      form: signalled('sb-unix:sigusr2'),
      says: /^(?::STILL|Error: The Lisp image was lost)/,
      succeeds: 'maybe',
      image: 'either',
      spoils: true,
      probe: ['1', /^(?:1$|Error: The Lisp image was lost)/],
    },
    { name: 'SIGSTOP', form: signalled('19'), says: /^(?:Error: |:STILL)/, succeeds: 'maybe', freezes: true },
    {
      name: 'all signals blocked',
      long: true,
      form: '(sb-sys:with-pinned-objects () (let ((set (sb-alien:make-alien (sb-alien:unsigned 8) 128))) (dotimes (i 128) (setf (sb-alien:deref set i) 255)) (sb-alien:alien-funcall (sb-alien:extern-alien "pthread_sigmask" (function sb-alien:int sb-alien:int (* t) (* t))) 0 set (sb-sys:int-sap 0)) (loop)))',
      says: /^Error: /,
      image: 'replaced',
      freezes: true,
    },
  ],
};
