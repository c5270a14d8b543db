// Threads, locks and timers.

import { type Group, INTERRUPTED } from '../case.ts';

const GRAB = '(dolist (v (list %)) (sb-thread:grab-mutex v))';

export const THREADS: Group = {
  title: 'Threads, locks, timers',
  cases: [
    {
      name: 'two threads that wait for each other',
      form: '(let* ((a (sb-thread:make-mutex)) (b (sb-thread:make-mutex)) (th (sb-thread:make-thread (lambda () (sb-thread:with-mutex (a) (sleep 0.1) (sb-thread:with-mutex (b) 1)))))) (sb-thread:with-mutex (b) (sleep 0.2) (sb-thread:with-mutex (a) (sb-thread:join-thread th))))',
      says: /^Error: (?:Interrupted|Deadlock cycle detected|DEADLOCK)/i,
    },
    {
      name: 'the world lock of the compiler held',
      form: '(sb-c::with-world-lock () (loop))',
      says: INTERRUPTED,
    },
    {
      name: 'the world lock held by a thread that sleeps',
      form: '(progn (sb-thread:make-thread (lambda () (sb-c::with-world-lock () (sleep 100)))) (sleep 0.1) (compile nil (quote (lambda () 1))))',
      says: /^#<FUNCTION/,
      spoils: true,
      succeeds: true,
    },
    {
      name: 'threads that make threads',
      long: true,
      form: '(labels ((make () (sb-thread:make-thread (lambda () (make) (make) (sleep 100))))) (make) (sleep 100))',
      says: /^Error: /,
      spoils: true,
      freezes: true,
      probe: ['1', /^(?:1$|Error: The Lisp image was lost)/],
    },
    {
      name: 'all other threads ended',
      form: '(progn (dolist (th (remove sb-thread:*current-thread* (sb-thread:list-all-threads))) (ignore-errors (sb-thread:terminate-thread th))) (sleep 1000))',
      says: INTERRUPTED,
      seconds: 2,
    },
    {
      name: 'the thread that reads messages made to loop',
      form: '(progn (sb-thread:interrupt-thread (find "live-lisp reader" (sb-thread:list-all-threads) :key (function sb-thread:thread-name) :test (function equal)) (lambda () (loop))) (loop))',
      says: INTERRUPTED,
    },
    {
      name: 'the main thread made to fail',
      form: '(progn (sb-thread:interrupt-thread (sb-thread:main-thread) (lambda () (error "in the main thread"))) (sleep 0.3) (loop))',
      says: INTERRUPTED,
    },
    {
      name: "the backend's lock for sending held",
      form: '(progn (sb-thread:grab-mutex (live-lisp.base::channel-lock live-lisp.base::*channel*)) (loop))',
      says: /^Error: /,
      freezes: true,
      image: 'replaced',
    },
    {
      name: "the backend's locks held by a thread that never ends",
      long: true,
      form: `(progn (sb-thread:make-thread (lambda () ${GRAB.replace('%', 'live-lisp.jobs::**session-lock** live-lisp.jobs::**load-lock** live-lisp.jobs::**errors-lock** (live-lisp.base::channel-lock live-lisp.base::*channel*)')} (sleep 1000))) (sleep 0.1) :held)`,
      says: /^Error: /,
      freezes: true,
      image: 'replaced',
    },
    {
      name: 'the lock of the output held',
      form: '(progn (sb-thread:grab-mutex (live-lisp.base::capture-lock (live-lisp.base::stream-capture *standard-output*))) (loop))',
      says: INTERRUPTED,
    },
  ],
};
