// Forms that use up a stack, or touch memory that is not theirs.

import { type Group, interruptedIn, lost } from '../case.ts';

const STACK = /^Error: Control stack exhausted/;
const FAULT = /^Error: Unhandled memory fault/;

export const STACKS: Group = {
  title: 'Stacks and memory faults',
  cases: [
    {
      name: 'recursion without end',
      before: '(defun deep (n) (1+ (deep (1+ n))))',
      form: '(deep 0)',
      says: /^Error: Control stack exhausted\b[\s\S]*\nType: SB-KERNEL::CONTROL-STACK-EXHAUSTED\n[\s\S]*\(COMMON-LISP-USER::DEEP /,
    },
    {
      name: 'recursion without end that conses',
      before: '(defun walk (n) (let ((x (list n n))) (+ (length x) (walk (1+ n)))))',
      form: '(walk 0)',
      says: new RegExp(
        `${STACK.source}|${lost('its runtime gave up: Control stack exhausted while pseudo-atomic').source}`,
      ),
      image: 'either',
    },
    {
      name: 'recursion without end, taken again and again',
      before: '(defun deep (n) (1+ (deep (1+ n))))',
      form: '(dotimes (i 20 :through) (handler-case (deep 0) (storage-condition () nil)))',
      succeeds: true,
      says: /^:THROUGH/,
      seconds: 5,
    },
    {
      name: 'recursion without end in a cleanup form',
      before: '(defun deep (n) (1+ (deep (1+ n))))',
      form: '(unwind-protect (deep 0) (deep 0))',
      says: lost('its runtime gave up: Control stack exhausted'),
      image: 'replaced',
    },
    {
      name: 'recursion without end in a print method',
      before:
        '(defclass printed-deep () ()) (defmethod print-object ((x printed-deep) s) (print-object x s) (princ 1 s))',
      form: "(make-instance 'printed-deep)",
      says: STACK,
    },
    {
      name: 'recursion without end in a report function',
      before: '(define-condition deep-report (error) () (:report (lambda (c s) (format s "~a!" c))))',
      form: "(error 'deep-report)",
      says: /^Error: /,
      seconds: 3,
    },
    {
      name: 'recursion without end in a thread',
      before: '(defun deep (n) (1+ (deep (1+ n))))',
      form: '(sb-thread:join-thread (sb-thread:make-thread (lambda () (deep 0))) :default :ended)',
      succeeds: true,
      says: /^:ENDED/,
    },
    {
      name: 'a list too deep for the compiler',
      form: '(let ((l 1)) (dotimes (i 100000) (setf l (list (quote 1+) l))) (eval l))',
      seconds: 5,
      says: /Control stack exhausted/,
    },
    {
      name: 'a text too deep for the reader',
      form: `${'('.repeat(200_000)}${')'.repeat(200_000)}`,
      seconds: 5,
      says: /^Error: /,
    },
    {
      name: 'the binding stack',
      before: '(defvar *bound* 0) (defun bind-deep (n) (let ((*bound* n)) (1+ (bind-deep (1+ n)))))',
      form: '(bind-deep 0)',
      says: /^Error: (?:Binding|Control) stack exhausted/,
    },
    {
      name: 'the binding stack by PROGV',
      form: '(progv (loop repeat 1000000 collect (gensym)) nil 1)',
      says: /^Error: /,
      seconds: 20,
      image: 'either',
    },
    {
      name: 'the alien stack',
      before:
        '(defun alien-deep (n) (sb-alien:with-alien ((a (array sb-alien:char 10000))) (setf (sb-alien:deref a 0) 1) (1+ (alien-deep (1+ n)))))',
      form: '(alien-deep 0)',
      says: /^Error: (?:Alien|Control) stack exhausted/,
    },
    { name: 'a read at address 0', form: '(sb-sys:sap-ref-8 (sb-sys:int-sap 0) 0)', says: FAULT },
    {
      name: 'a write into code of SBCL itself',
      form: '(setf (sb-sys:sap-ref-8 (sb-sys:int-sap (sb-sys:find-foreign-symbol-address "os_vm_page_size")) -4096000) 1)',
      says: /^Error: /,
    },
    {
      name: 'a jump to address 0',
      form: '(sb-alien:alien-funcall (sb-alien:sap-alien (sb-sys:int-sap 0) (function sb-alien:void)))',
      says: /^Error: /,
    },
    {
      name: 'a memory fault in a thread',
      form: '(sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-sys:sap-ref-8 (sb-sys:int-sap 0) 0))) :default :ended)',
      succeeds: true,
      says: /^:ENDED/,
    },
    {
      name: 'a type lie at safety 0',
      form: '(funcall (compile nil (quote (lambda (x) (declare (optimize (safety 0) (speed 3)) (type (simple-array fixnum (*)) x)) (aref x 0)))) 5)',
      says: /^Error: /,
    },
    {
      name: 'a loop deep in the stack',
      before: '(defun spin () (loop)) (defun deep-spin (n) (if (zerop n) (spin) (1+ (deep-spin (1- n)))))',
      form: '(deep-spin 10000)',
      says: interruptedIn('SPIN'),
    },
  ],
};
