// Forms that use up the heap.

import { type Group, HEAP } from '../case.ts';

/** Threads that the form made, and what lives on in a global variable, can fill the heap behind the guard. */
const HEAP_OR_LOST = /^Error: (?:Interrupted after|Heap exhausted|The Lisp image was lost)/;
const TYPE_ERROR = /^Error: (?:Heap exhausted|The value|Invalid)/;

export const MEMORY: Group = {
  title: 'The heap',
  cases: [
    {
      name: 'strings without end',
      form: '(let ((l nil)) (loop (push (make-string 100000) l)))',
      seconds: 20,
      says: HEAP,
    },
    {
      name: 'instances without end, in a global variable',
      long: true,
      before: '(defclass many () ((a) (b))) (defvar *many* nil)',
      form: "(loop (push (make-instance 'many) *many*))",
      seconds: 20,
      says: HEAP_OR_LOST,
      probe: ['(progn (setf *many* nil) (sb-ext:gc :full t) :freed)', /^:FREED/],
      image: 'either',
    },
    {
      name: 'conses without end, with every condition taken',
      long: true,
      form: '(let ((l nil)) (loop (handler-case (loop (push (list 1) l)) (t () nil))))',
      seconds: 20,
      says: HEAP_OR_LOST,
      image: 'either',
    },
    {
      name: 'conses without end in a thread that nobody waits for',
      spoils: true,
      long: true,
      form: '(progn (sb-thread:make-thread (lambda () (let ((l nil)) (loop (push (list 1) l)))) :name "filler") (sleep 4) :slept)',
      seconds: 10,
      says: /^(?::SLEPT|Error: )/,
      succeeds: 'maybe',
      image: 'either',
    },
    { name: 'an array larger than the heap', form: '(make-array 10000000000)', seconds: 5, says: TYPE_ERROR },
    {
      name: 'a heap that is written over',
      form: '(let ((a (make-array 10 :element-type (quote (unsigned-byte 64))))) (sb-sys:with-pinned-objects (a) (loop for i below 10000000 do (setf (sb-sys:sap-ref-64 (sb-sys:vector-sap a) (* 8 i)) 3735928559))) (sb-ext:gc :full t))',
      says: /^(?:Error: |NIL)/,
      seconds: 5,
      probe: ['1', /^(?:1$|Error: The Lisp image was lost)/],
      spoils: true,
      image: 'either',
      succeeds: 'maybe',
    },
    {
      name: 'the garbage collector told to collect never',
      long: true,
      form: '(progn (setf (sb-ext:bytes-consed-between-gcs) (* 2 1024 1024 1024)) (let ((l nil)) (loop (push (make-array 1000) l))))',
      seconds: 20,
      says: /^Error: /,
      spoils: true,
      image: 'either',
    },
  ],
};
