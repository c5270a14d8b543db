// Forms that use up a stack, or touch memory that is not theirs.

import { type Group, lost } from '../case.ts';

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
      name: 'recursion without end in a thread',
      before: '(defun deep (n) (1+ (deep (1+ n))))',
      form: '(sb-thread:join-thread (sb-thread:make-thread (lambda () (deep 0))) :default :ended)',
      succeeds: true,
      says: /^:ENDED/,
    },
    {
      name: 'a text too deep for the reader',
      form: `${'('.repeat(200_000)}${')'.repeat(200_000)}`,
      seconds: 5,
      says: /^Error: /,
    },
    { name: 'a read at address 0', form: '(sb-sys:sap-ref-8 (sb-sys:int-sap 0) 0)', says: FAULT },
  ],
};
