// The heap of the image: programs that use much of it, and no more than they may, are left alone.

import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '../harness.ts';
import { everyNth } from '../long.ts';
import { sharedSession } from '../shared.ts';

/** Each program keeps about PART of the heap, and makes as much garbage as the heap is large. It tells whether all that
 *  it kept is as it should be. */
const DEFINITIONS = `(defvar *before* :kept)
  (defvar *app* '())
  (defvar *made* nil)
  (defconstant +heap+ (* 256 1024 1024))
  (defun count-of (octets part) (floor (* part +heap+) octets))
  (defun make-garbage (part) (loop repeat (count-of 16000 part) do (setf *made* (make-list 1000))))
  (defun sum-below (n) (floor (* n (1- n)) 2))
  (defun keep-list (part)
    (let* ((n (count-of 16 part)) (all (loop for i below n collect i)))
      (make-garbage 1)
      (= (sum-below n) (reduce #'+ all))))
  (defun keep-vectors (part)
    (let ((all (make-array 8)) (n (count-of 64 part)))
      (dotimes (i 24 (equal (quote (16 17 18 19 20 21 22 23)) (map 'list (lambda (each) (aref each (1- n))) all)))
        (setf (aref all (mod i 8)) nil
              (aref all (mod i 8)) (make-array n :initial-element i))
        (make-garbage 1/24))))
  (defun replace-vector (part)
    (let ((all nil) (n (count-of 8 part)))
      (dotimes (i 5 (= 4 (aref all (1- n))))
        (setf all nil
              all (make-array n :initial-element i))
        (make-garbage 1/5))))
  (defun keep-in-threads (part)
    (flet ((keep () (let ((all (loop for i below (count-of 16 (/ part 8)) collect i)))
                      (make-garbage 1/8)
                      (= (sum-below (length all)) (reduce #'+ all)))))
      (every #'sb-thread:join-thread
             (loop repeat 8 collect (sb-thread:make-thread #'keep)))))
  (defun fill-to (part)
    (loop while (< (sb-kernel:dynamic-usage) (* part +heap+))
          do (push (loop repeat 5000 collect (list 1)) *app*)))`;

/** Returns the session of an image in which PREPARATION was evaluated, which the tests of a group share and must keep. */
function sharedImage(preparation: string): Session {
  const session = sharedSession({ args: ['--heap', '256MB'] }, DEFINITIONS);
  beforeAll(async () => expect(await session.eval(preparation)).toBe('NIL'));
  afterEach(async () => expect(await session.eval('*before*')).toBe(':KEPT'));
  return session;
}

/** In the short run the first is alone, and the second beside an application. */
const PROGRAMS = ['keep-list', 'keep-vectors', 'keep-in-threads'];
const [FIRST = '', ...OTHERS] = PROGRAMS;

describe('alone', () => {
  const session = sharedImage('nil');

  test.each(everyNth(3, PROGRAMS))('%s can keep 70 % of the heap', async (name) => {
    expect(await session.eval(`(${name} 7/10)`, { timeout: 120 })).toBe('T');
  });

  // The one before can seem to live: the collector heeds what looks like a pointer on the stack.
  test('one vector after the other can have a third of the heap', async () => {
    expect(await session.eval('(replace-vector 1/3)', { timeout: 120 })).toBe('T');
  });
});

describe('beside an application that fills 40 % of the heap', () => {
  const session = sharedImage('(fill-to 4/10)');

  test.each(everyNth(3, [...OTHERS, FIRST]))('%s can keep 30 % of it', async (name) => {
    expect(await session.eval(`(${name} 3/10)`, { timeout: 120 })).toBe('T');
  });
});
