// Forms that never end, wherever code can be.

import { type Group, INTERRUPTED, interruptedIn, THREAD_ENDED, UNINTERRUPTIBLE } from '../case.ts';

const SPIN = '(defun spin () (loop))';

export const LOOPS: Group = {
  title: 'Loops that never end',
  cases: [
    {
      name: 'a loop after output',
      before: SPIN,
      form: '(progn (princ "half way") (spin))',
      says: new RegExp(`${interruptedIn('SPIN').source}[\\s\\S]*\\n\\nOutput:\\nhalf way$`),
    },
    {
      name: 'handler-case that takes every condition',
      before: SPIN,
      form: '(handler-case (spin) (t () :swallowed))',
      says: interruptedIn('SPIN'),
    },
    { name: 'a cleanup form that loops', form: '(unwind-protect (loop) (loop))', says: INTERRUPTED },
    {
      name: 'two nested cleanup forms that loop',
      long: true,
      form: '(unwind-protect (unwind-protect (loop) (loop)) (loop))',
      says: THREAD_ENDED,
    },
    {
      name: 'a macro that never expands, in macroexpand_form',
      before: '(defmacro never () (loop))',
      form: '(never)',
      tool: { name: 'macroexpand_form', args: { form: '$' } },
      says: /^(?:Error: )?Interrupted after/,
    },
    {
      name: 'a reader macro that loops',
      form: '(set-macro-character #\\! (lambda (s c) (declare (ignore s c)) (loop))) (list !)',
      probe: ['(progn (set-syntax-from-char #\\! #\\a) :undone)', /^:UNDONE$/],
      says: INTERRUPTED,
    },
    {
      name: 'a report function that loops',
      before:
        '(define-condition endless-report (error) () (:report (lambda (c s) (declare (ignore c s)) (loop))))',
      form: "(error 'endless-report)",
      says: /^Error: /,
    },
    {
      name: 'a report function that fails',
      before:
        '(define-condition failing-report (error) () (:report (lambda (c s) (declare (ignore c s)) (error "no report"))))',
      form: "(error 'failing-report)",
      says: /^Error: #<FAILING-REPORT: printing it signalled SIMPLE-ERROR>/,
    },
    {
      name: 'an argument of a frame whose print method loops',
      before:
        '(defclass endless () ()) (defmethod print-object ((x endless) s) (declare (ignore s)) (loop)) (defun take-it (x) (error "took ~a" (type-of x)))',
      form: "(take-it (make-instance 'endless))",
      says: /^Error: /,
    },
    { name: 'a bignum to print', form: '(expt 7 3000000)', says: INTERRUPTED },
    {
      name: 'a tool that calls itself',
      before:
        '(live-lisp:register-tool live-lisp:*agent-q-registry* (live-lisp:define-tool "self_tool" "Calls itself." nil :handler (lambda (args) (declare (ignore args)) (live-lisp:call-tool "self_tool"))))',
      form: '(live-lisp:call-tool "self_tool")',
      seconds: 20,
      // The limit of a call that code makes is that of the server, which can come first on a busy machine.
      says: /Code can nest tool calls at most 16 levels deep\.|Tool self_tool failed: Interrupted after /,
    },
    {
      name: 'a debugger hook that loops',
      form: '(setf sb-ext:*invoke-debugger-hook* (lambda (c h) (declare (ignore c h)) (loop))) (error "into the hook")',
      says: INTERRUPTED,
    },
    {
      name: 'an *after-gc-hooks* that loops',
      form: '(push (lambda () (loop)) sb-ext:*after-gc-hooks*) (sb-ext:gc) (loop)',
      says: INTERRUPTED,
      probe: [
        '(progn (setf sb-ext:*after-gc-hooks* (last sb-ext:*after-gc-hooks*)) (sb-ext:gc) :undone)',
        /^:UNDONE$/,
      ],
    },
    {
      name: 'a loop that nothing may interrupt, after output',
      form: '(progn (princ "half way") (sb-sys:without-interrupts (loop)))',
      says: new RegExp(`${UNINTERRUPTIBLE.source}[\\s\\S]*half way`),
      image: 'replaced',
    },
    {
      name: 'a loop during which another thread has to collect garbage, and cannot',
      long: true,
      form: '(progn (sb-thread:make-thread (lambda () (sleep 0.1) (loop (sb-ext:gc)))) (sb-sys:without-gcing (loop)))',
      says: UNINTERRUPTIBLE,
      image: 'replaced',
      freezes: true,
    },
    {
      name: 'a lookup that runs a loop of the program',
      spoils: true,
      before:
        '(defclass odd-class (standard-class) ()) (defmethod sb-mop:validate-superclass ((a odd-class) (b standard-class)) t) (defclass odd () ((a)) (:metaclass odd-class)) (defmethod sb-mop:class-slots ((c odd-class)) (loop))',
      form: 'odd',
      tool: { name: 'class_slots', args: { class: '$' } },
      seconds: 30,
      succeeds: true,
      says: /ODD/,
    },
  ],
};
