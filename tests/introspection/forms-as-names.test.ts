// A definition named by the form that makes it, such as (defmethod run :after (fast)), in the tools that tell its users.

import { beforeAll, describe, expect, test } from 'vitest';
import { Written } from '../callers/written.ts';

const MILL = `(defpackage :mill (:use :cl) (:export #:run))
(in-package :mill)
(defclass fast () ())
(defgeneric run (x))
(defmethod run ((x integer)) x)
(defmethod run ((x fast)) x)
(defmethod run :after ((x fast)) (print x))
(defun go-on () (run 3))
(defvar *speed* 4)
(defun now () *speed*)
(defun cell (bag i) (nth i bag))
(defsetf cell (bag i) (v) \`(setf (nth ,i ,bag) ,v))
(defun fill-cell (bag) (setf (cell bag 1) 2))
`;

const written = new Written();
beforeAll(() => written.load('mill.lisp', MILL));
const text = (tool: string, args: Record<string, unknown>) => written.session.text(tool, args);

describe('a single method that goes away', () => {
  test('that runs after the primary ones', async () => {
    expect(await text('impact_of_change', { name: '(defmethod mill:run :after (fast))' })).toBe(
      `MILL::RUN :AFTER (MILL::FAST) [METHOD]

Calls of the generic function, which stays; each call runs the method only if its arguments fit (1):
  MILL::GO-ON  mill.lisp:8:17  (defun go-on () (run 3))

Methods that stay (2):
  (MILL::FAST)  mill.lisp:6:1  (defmethod run ((x fast)) x)
  (COMMON-LISP::INTEGER)  mill.lisp:5:1  (defmethod run ((x integer)) x)

Tests: unknown, because ASDF has registered no system that tests another (test-op).

Unaffected exports and imports of its name (1):
  mill.lisp:1:39  (defpackage :mill (:use :cl) (:export #:run))

mill.lisp:7  MILL::RUN :AFTER (MILL::FAST) [METHOD]
(defmethod run :after ((x fast)) (print x))`,
    );
  });

  test('that is primary', async () => {
    const parts = await text('impact_of_change', { name: '(defmethod run ((x integer)))', package: 'mill' });
    expect(parts.split('\n\n').slice(2, 4)).toEqual([
      'Calls without another applicable primary method would signal an error.',
      `Methods that stay (2):
  :AFTER (MILL::FAST)  mill.lisp:7:1  (defmethod run :after ((x fast)) (print x))
  (MILL::FAST)  mill.lisp:6:1  (defmethod run ((x fast)) x)`,
    ]);
  });

  test('takes its new lambda list in a whole definition only', async () => {
    const call = { name: '(defmethod mill:run ((x integer)))', lambda_list: '(x y)' };
    expect(await text('impact_of_change', call)).toBe(
      "Parameter 'lambda_list' is for functions and generic functions. For a method, give its whole new DEFMETHOD in parameter 'definition'.",
    );
  });
});

test('who_calls of a method tells the callers of its generic function, and says so', async () => {
  expect(await text('who_calls', { name: '(defmethod mill:run :after (fast))' })).toBe(
    `Functions that call MILL::RUN:

  MILL::GO-ON
Note: calls go to the generic function; the arguments of each call decide whether it runs the method :AFTER (MILL::FAST).`,
  );
});

test.each(['who_calls', 'impact_of_change'])('%s says that there is no such method', async (tool) => {
  expect(await text(tool, { name: '(defmethod mill:run :around (fast))' })).toBe(
    'MILL::RUN has no method (defmethod mill:run :around (fast)). Its methods: :AFTER (MILL::FAST), (MILL::FAST), (COMMON-LISP::INTEGER).',
  );
});

test('other forms stand for what they define', async () => {
  expect(await text('who_calls', { name: '(defgeneric mill:run (x))' })).toBe(
    'Functions that call MILL::RUN:\n\n  MILL::GO-ON',
  );
  expect(await text('who_references', { name: '(defvar mill::*speed*)' })).toBe(
    'Functions that read MILL::*SPEED*:\n\n  MILL::NOW',
  );
  expect(await text('impact_of_change', { name: '(defsetf mill::cell)' })).toContain(
    'MILL::(SETF CELL) [SETF EXPANDER] (BAG I)',
  );
});
