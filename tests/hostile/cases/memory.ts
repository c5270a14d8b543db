// Forms that use up the heap or a stack, or touch memory that is not theirs.

import { type Group, HEAP, INTERRUPTED, interruptedIn, lost } from '../case.ts';

const STACK = /^Error: Control stack exhausted/;
const FAULT = /^Error: Unhandled memory fault/;
const TYPE_ERROR = /^Error: (?:Heap exhausted|The value|Invalid)/;

export const MEMORY: Group = {
  title: 'Heap, stacks and faults',
  cases: [
    { name: 'conses without end', form: '(let ((l nil)) (loop (push (list 1) l)))', seconds: 20, says: HEAP },
    {
      name: 'vectors without end',
      form: '(let ((l nil)) (loop (push (make-array 10000) l)))',
      seconds: 20,
      says: HEAP,
    },
    {
      name: 'strings without end',
      form: '(let ((l nil)) (loop (push (make-string 100000) l)))',
      seconds: 20,
      says: HEAP,
    },
    {
      name: 'a vector that grows without end',
      form: '(let ((v (make-array 0 :adjustable t :fill-pointer t))) (loop (vector-push-extend 1 v)))',
      seconds: 20,
      says: HEAP,
    },
    {
      name: 'a string that grows without end',
      form: '(with-output-to-string (s) (loop (write-string "all work and no play" s)))',
      seconds: 20,
      says: HEAP,
    },
    {
      name: 'a hash table that grows without end',
      form: '(let ((h (make-hash-table))) (loop for i from 0 do (setf (gethash i h) i)))',
      seconds: 20,
      says: HEAP,
    },
    {
      name: 'symbols without end',
      form: '(loop for i from 0 do (intern (format nil "SYMBOL-~D" i) (or (find-package "MANY") (make-package "MANY"))))',
      says: INTERRUPTED,
      probe: ['(progn (delete-package "MANY") (sb-ext:gc :full t) :deleted)', /^:DELETED$/],
    },
    {
      name: 'instances without end, in a global variable',
      before: '(defclass many () ((a) (b))) (defvar *many* nil)',
      form: "(loop (push (make-instance 'many) *many*))",
      seconds: 20,
      says: HEAP,
      probe: ['(progn (setf *many* nil) (sb-ext:gc :full t) :freed)', /^:FREED$/],
    },
    {
      name: 'conses without end, with every condition taken',
      form: '(let ((l nil)) (loop (handler-case (loop (push (list 1) l)) (t () nil))))',
      seconds: 20,
      says: HEAP,
    },
    {
      name: 'conses without end in a thread of the form',
      form: '(sb-thread:join-thread (sb-thread:make-thread (lambda () (let ((l nil)) (loop (push (list 1) l))))))',
      seconds: 20,
      says: HEAP,
    },
    {
      name: 'conses without end in four threads',
      form: '(mapc (function sb-thread:join-thread) (loop repeat 4 collect (sb-thread:make-thread (lambda () (let ((l nil)) (loop (push (list 1) l)))))))',
      seconds: 20,
      says: HEAP,
    },
    {
      name: 'conses without end in a thread that nobody waits for',
      form: '(progn (sb-thread:make-thread (lambda () (let ((l nil)) (loop (push (list 1) l)))) :name "filler") (sleep 4) :slept)',
      seconds: 10,
      succeeds: true,
      says: /^:SLEPT/,
    },
    { name: 'an array larger than the heap', form: '(make-array 10000000000)', says: TYPE_ERROR },
    { name: 'a string larger than the heap', form: '(make-string 1000000000)', says: /^Error: Heap exhausted/ },
    { name: 'a list larger than the heap', form: '(make-list 1000000000)', seconds: 20, says: HEAP },
    {
      name: 'an array of a size that is no size',
      form: '(make-array (expt 2 70))',
      says: /^Error: /,
    },
    { name: 'a bignum larger than the heap', form: '(ash 1 (expt 2 40))', says: /^Error: / },
    { name: 'a format directive with a huge width', form: '(format nil "~1000000000A" 1)', seconds: 10, says: /^Error: / },
    {
      name: 'a value that prints without end in little memory',
      form: '(let ((l (list 1))) (setf (cdr l) l) l)',
      succeeds: true,
      says: /^#1=\(1 \. #1#\)$/,
    },
    {
      name: 'a deeply nested list as a value',
      form: '(let ((l nil)) (dotimes (i 1000000) (setf l (list l))) l)',
      succeeds: true,
      says: /^\(\(\(/,
    },
    {
      name: 'foreign memory without end',
      form: '(loop (sb-alien:make-alien (sb-alien:unsigned 8) 100000000))',
      says: /^Error: /,
    },
    { name: 'recursion without end', before: '(defun deep (n) (1+ (deep (1+ n))))', form: '(deep 0)', says: STACK },
    {
      name: 'recursion without end, once more',
      before: '(defun deep (n) (1+ (deep (1+ n)))) (ignore-errors (deep 0)) (handler-case (deep 0) (storage-condition () 1))',
      form: '(deep 0)',
      says: STACK,
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
      name: 'recursion without end in a handler',
      before: '(defun deep (n) (1+ (deep (1+ n))))',
      form: '(handler-bind ((error (lambda (c) (declare (ignore c)) (deep 0)))) (error "x"))',
      says: STACK,
    },
    {
      name: 'recursion without end in a cleanup form',
      before: '(defun deep (n) (1+ (deep (1+ n))))',
      form: '(unwind-protect (deep 0) (deep 0))',
      says: STACK,
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
      before:
        '(define-condition deep-report (error) () (:report (lambda (c s) (format s "~a!" c))))',
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
      name: 'recursion without end in ten threads',
      before: '(defun deep (n) (1+ (deep (1+ n))))',
      form: '(loop for th in (loop repeat 10 collect (sb-thread:make-thread (lambda () (deep 0)))) collect (sb-thread:join-thread th :default :ended))',
      succeeds: true,
      says: /^\(:ENDED :ENDED/,
      seconds: 5,
    },
    {
      name: 'recursion without end in a macro',
      before: '(defun deep (n) (1+ (deep (1+ n)))) (defmacro deep-macro () (deep 0))',
      form: '(deep-macro)',
      says: /Control stack exhausted/,
    },
    {
      name: 'recursion without end in the reader',
      form: '#.(labels ((deep (n) (1+ (deep n)))) (deep 0))',
      says: /Control stack exhausted/,
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
    },
    {
      name: 'the alien stack',
      before:
        '(defun alien-deep (n) (sb-alien:with-alien ((a (array sb-alien:char 10000))) (setf (sb-alien:deref a 0) 1) (1+ (alien-deep (1+ n)))))',
      form: '(alien-deep 0)',
      says: /^Error: (?:Alien|Control) stack exhausted/,
    },
    { name: 'a read at address 0', form: '(sb-sys:sap-ref-8 (sb-sys:int-sap 0) 0)', says: FAULT },
    { name: 'a write at address 0', form: '(setf (sb-sys:sap-ref-8 (sb-sys:int-sap 0) 0) 1)', says: FAULT },
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
      name: 'a heap that is written over',
      form: '(let ((a (make-array 10 :element-type (quote (unsigned-byte 64))))) (sb-sys:with-pinned-objects (a) (loop for i below 10000000 do (setf (sb-sys:sap-ref-64 (sb-sys:vector-sap a) (* 8 i)) 3735928559))) (sb-ext:gc :full t))',
      says: /^Error: /,
      seconds: 5,
      spoils: true,
      replaced: true,
    },
    {
      name: 'a loop deep in the stack',
      before: '(defun spin () (loop)) (defun deep-spin (n) (if (zerop n) (spin) (1+ (deep-spin (1- n)))))',
      form: '(deep-spin 10000)',
      says: interruptedIn('SPIN'),
    },
    {
      name: 'the garbage collector told to collect never',
      form: '(progn (setf (sb-ext:bytes-consed-between-gcs) (* 2 1024 1024 1024)) (let ((l nil)) (loop (push (make-array 1000) l))))',
      seconds: 20,
      says: /^Error: /,
      spoils: true,
    },
  ],
};
void lost;
