// Which functions impact_of_change says to compile again when what is compiled into them changes.

import { beforeAll, describe, expect, test } from 'vitest';
import { Written } from '../callers/written.ts';

const CODE = `(defpackage :again (:use :cl))
(in-package :again)
(declaim (inline half quarter constantly-a))
(defun half (x) (/ x 2))
(defun quarter (x) (half (half x)))
(defun by-quarter (x) (quarter x))
(defun not-inline (x) (declare (notinline half)) (half x))
(defun names () '(half grind))
(eval-when (:compile-toplevel :load-toplevel :execute) (defun expanded (x) \`(list ,x)))
(defmacro listed (x) (expanded x))
(defmacro listed-too (x) \`(listed ,x))
(defun by-listed () (listed 1))
(defun by-listed-too () (listed-too 1))
(defconstant +a+ 3)
(defun constantly-a () +a+)
(defun by-constant () (constantly-a))
(define-compiler-macro grind (&whole form x) (if (integerp x) (list '1+ x) form))
(defun grind (x) (1+ x))
(defun replaced () (grind 4))
(defun declined (x) (grind x))
(define-symbol-macro mode (car *modes*))
(define-modify-macro appendf (&rest more) append)
(defun by-appendf (l) (appendf l (list 1) (list 2)) l)
(defun cell (bag) (car bag))
(defsetf cell (bag) (v) \`(setf (car ,bag) ,v))
(defun by-cell (b) (setf (cell b) 4))
`;

const written = new Written();
beforeAll(() => written.load('again.lisp', CODE));

const impact = async (name: string, more: object = {}) =>
  written.session.text('impact_of_change', { name, package: 'again', ...more });
/** Returns the part of the answer on NAME that says what to compile again. */
const again = async (name: string, more: object = {}) =>
  (await impact(name, more)).split('\n\n').find((part) => /ompile.* again/.test(part));

describe('compiled again', () => {
  test('an inline function: what has it by way of another one too, but no data and no other calls', async () => {
    expect(await again('half')).toBe(
      'Compile these again, because it is inline (2): AGAIN::BY-QUARTER, AGAIN::QUARTER; perhaps (1), because they still contain calls: AGAIN::NOT-INLINE',
    );
  });

  test('a macro: what uses it in the expansion of another one', async () => {
    expect(await again('listed')).toBe(
      'Compile these again, because it is a macro (2): AGAIN::BY-LISTED, AGAIN::BY-LISTED-TOO',
    );
  });

  test('a function that runs when a macro expands', async () => {
    expect(await again('expanded')).toBe(
      'Macros that call it during expansion (1): AGAIN::LISTED\nCompile these again if their expansions change (2): AGAIN::BY-LISTED, AGAIN::BY-LISTED-TOO',
    );
  });

  test.each([{}, { definition: '(defconstant +a+ 4)' }])(
    'a constant: what has its value %o',
    async (more) => {
      expect(await again('+a+', more)).toBe(
        'Compile these again, because its value is compiled into them (2): AGAIN::BY-CONSTANT, AGAIN::CONSTANTLY-A',
      );
    },
  );

  test('a function with a compiler macro, and the compiler macro itself', async () => {
    expect(await again('grind')).toBe(
      'Callers where the compiler macro replaced the call (1): AGAIN::REPLACED; perhaps (1), because they still contain calls: AGAIN::DECLINED\nThey keep the expansion when the function changes; compile them again when the compiler macro changes.',
    );
    const changes =
      'Compile these again, because its compiler macro changes (1): AGAIN::REPLACED; perhaps (1), because they still contain calls: AGAIN::DECLINED';
    expect(await again('grind', { definition: '(define-compiler-macro grind (x) x)' })).toBe(changes);
    expect(await again('(define-compiler-macro grind)')).toBe(changes);
    expect(await impact('(define-compiler-macro grind)')).toContain(
      '\n\nThe lambda list of the function does not change, and calls must fit it (2 calls).\n\n',
    );
  });
});

describe('a new definition of another kind', () => {
  test('of a symbol macro, a modify macro and a place', async () => {
    expect(await impact('mode', { definition: '(define-symbol-macro mode 3)' })).toContain(
      'SBCL records no uses of a symbol macro. Compiled code keeps the old definition until it is compiled again.',
    );
    expect(await impact('appendf', { definition: '(define-modify-macro appendf (one) append)' })).toContain(
      'Calls that no longer fit (1 of 1 call):\n  AGAIN::BY-APPENDF  again.lisp:23:23  (defun by-appendf (l) (appendf l (list 1) (list 2)) l)  [3 arguments, at most 2 taken]',
    );
    expect(await impact('cell', { definition: '(defsetf cell set-cell)' })).toContain(
      'Forms in files that set such a place; SBCL records no uses of a setf expander (1):\n  AGAIN::BY-CELL',
    );
  });

  test('that the name does not have', async () => {
    expect(await impact('half', { definition: '(defvar half 1)' })).toBe(
      'There is no DEFVAR of AGAIN::HALF yet, so nothing uses it.',
    );
  });
});
