// impact_of_change of names that stand for no function or class, but for a place, a compiler macro or a list structure.

import { beforeAll, expect, test } from 'vitest';
import { Written } from '../callers/written.ts';

const PLACES = `(defpackage :places (:use :cl))
(in-package :places)
(define-setf-expander lastly (bag)
  (let ((s (gensym)) (b (gensym)))
    (values (list b) (list bag) (list s) \`(setf (car (last ,b)) ,s) \`(car (last ,b)))))
(defun set-spare (x v) (list x v))
(defsetf spare set-spare)
(defun (setf only-set) (v x) (list v x))
(defun cell (bag) (car bag))
(defsetf cell (bag) (v) \`(setf (car ,bag) ,v))
(defun use-lastly (b) (setf (lastly b) 1))
(defun use-spare () (setf (spare 1) 2))
(defun use-only-set () (setf (only-set 1) 3))
(defun use-cell (b) (setf (cell b) 4))
(define-compiler-macro only-expanded (x) \`(list ,x))
(defun use-only-expanded () (only-expanded 5))
(sb-ext:define-load-time-global **held** 1)
(defun use-held () **held**)
(defstruct (row (:type list)) left)
(defun use-row (r) (setf (row-left r) 6))
(declaim (declaration hinted))
`;

const written = new Written();
beforeAll(() => written.load('places.lisp', PLACES));

/** Returns the first COUNT parts of the answer on NAME. */
const impact = async (name: string, count: number) =>
  (await written.session.text('impact_of_change', { name, package: 'places' }))
    .split('\n\n')
    .slice(0, count)
    .join('\n\n');

test.each([
  ['lastly', '(BAG)', 'USE-LASTLY  places.lisp:11:23  (defun use-lastly (b) (setf (lastly b) 1))'],
  ['spare', '(X)', 'USE-SPARE  places.lisp:12:21  (defun use-spare () (setf (spare 1) 2))'],
])('%s, that is a place only', async (name, list, row) => {
  expect(await impact(name, 2)).toBe(
    `PLACES::(SETF ${name.toUpperCase()}) [SETF EXPANDER] ${list}\n\nForms in files that set such a place; SBCL records no uses of a setf expander (1):\n  PLACES::${row}`,
  );
});

test('a name with a setf function only', async () => {
  expect(await impact('only-set', 2)).toBe(
    'PLACES::(SETF ONLY-SET) [SETF FUNCTION] (V X)\n\nCalls that its removal would break (1):\n  PLACES::USE-ONLY-SET  places.lisp:13:24  (defun use-only-set () (setf (only-set 1) 3))',
  );
});

test('a function whose place is another definition', async () => {
  expect(await impact('cell', 3)).toBe(
    'PLACES::CELL [FUNCTION] (BAG)\n\nNo calls are known.\n\n(setf PLACES::CELL) is a separate definition; impact_of_change of that name lists its uses.',
  );
});

test('a compiler macro without a function', async () => {
  expect(await impact('only-expanded', 2)).toBe(
    'PLACES::ONLY-EXPANDED [COMPILER MACRO] (X)\n\nCalls that its removal would break (1):\n  PLACES::USE-ONLY-EXPANDED  places.lisp:16:29  (defun use-only-expanded () (only-expanded 5))',
  );
});

test('a global variable of any operator is not used by its own definition', async () => {
  expect(await impact('**held**', 3)).toBe(
    'PLACES::**HELD** [VARIABLE]\n\nFunctions that read PLACES::**HELD**:\n\n  PLACES::USE-HELD\n    places.lisp:18:20  (defun use-held () **held**)',
  );
});

test('a structure that is a list, and the setter of its slot', async () => {
  expect(await impact('row', 9)).toContain(
    'PLACES::(SETF ROW-LEFT) would be gone. Its uses (1):\n  PLACES::USE-ROW  places.lisp:20:20  (defun use-row (r) (setf (row-left r) 6))',
  );
});

test('a name of which nothing is known', async () => {
  expect(await impact('hinted', 1)).toBe(
    'PLACES::HINTED is not defined as a function. It is not a class either, so its dependents are unknown; search_in_buffer finds its name.',
  );
});

test('an accessor that goes is called from a package that has it and not its class', async () => {
  const lines = [
    '(defpackage :impact-lib (:use :cl) (:export #:part))',
    '(in-package :impact-lib)',
    '(defclass thing () ((part :accessor part)))',
    '(defpackage :impact-app (:use :cl :impact-lib))',
    '(in-package :impact-app)',
    '(defun reads (x) (part x))',
  ];
  await written.load('thing.lisp', lines.join('\n'));
  const changed = { name: 'impact-lib::thing', definition: '(defclass thing () ())' };
  expect((await written.session.text('impact_of_change', changed)).split('\n\n')[1]).toBe(
    'IMPACT-LIB::PART would be gone. Its uses (1):\n  IMPACT-APP::READS  thing.lisp:6:18  (defun reads (x) (part x))',
  );
});
