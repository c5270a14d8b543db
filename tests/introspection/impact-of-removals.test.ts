// impact_of_change of each kind of definition that goes away, other than functions.

import { beforeAll, describe, expect, test } from 'vitest';
import { Written } from '../callers/written.ts';

const TYPES = `(defpackage :stock (:use :cl) (:nicknames :sto) (:export #:sack #:spill))
(defpackage :shop (:use :cl) (:import-from :stock #:sack) (:local-nicknames (:s :stock)))
(in-package :stock)
(defclass sack () ((mass :initarg :mass :accessor sack-mass)))
(defclass bag (sack) ())
(defstruct bin level lid)
(define-condition spill (error) ((amount :initarg :amount :reader spill-amount)))
(define-method-combination all-of :operator and)
(define-symbol-macro mode (car *modes*))
(defstruct (pair (:type list)) left right)
(defvar *modes* (list 1))
(defmacro define-weigher (class) \`(defmethod weigh ((it ,class)) it))
`;
const USERS = `(in-package :stock)
(defgeneric weigh (it))
(defmethod weigh ((it sack)) (sack-mass it))
(define-weigher bin)
(defgeneric checked (it) (:method-combination all-of))
(defmethod checked all-of ((it integer)) it)
(defun make (sack) (list sack (make-bin :level 1) (make-instance 'sack :mass 2)))
(defun boom (n) (error 'spill :amount n))
(defun guard (f) (handler-case (funcall f) (spill (c) (spill-amount c))))
(defun tall (b) (declare (type bin b)) (typecase b (bin (bin-level b)) (sack 0)))
(defun heavy (s) (slot-value s 'mass))
(defun kinds () '(sack bin))
(defun now () (setf mode 2) (list mode))
(defun leftmost (p) (pair-left p))
(defun made (class) (make-instance class :mass 1))
(defun again (n) (if (plusp n) (again (1- n)) (list (funcall #'again 0))))
(in-package :shop)
(defun sell (s) (if (typep s 'sack) (s:spill s) (find-package :stock)))
`;

const written = new Written();
beforeAll(async () => {
  await written.load('types.lisp', TYPES);
  await written.load('users.lisp', USERS);
});

/** Returns the answer on NAME, without the text of its definition. */
const impact = async (name: string, args: object = { package: 'stock' }) =>
  (await written.session.text('impact_of_change', { name, ...args })).replace(/\n\ntypes\.lisp:[\s\S]*$/, '');

describe('a definition that goes away', () => {
  test.each(['sack', 'bin', 'spill', 'all-of', 'mode', 'pair', 'weigh', 'again'])('%s', async (name) => {
    expect(await impact(name)).toMatchSnapshot();
  });

  test('a package, by a nickname', async () => {
    expect(await impact('sto', {})).toMatchSnapshot();
  });

  test('what was evaluated is told too, of several definitions only the newest', async () => {
    await written.session.eval("(defun old (x) (typep x 'bag))", { package: 'stock' });
    await written.session.eval('(defun old (x) (check-type x bag))', { package: 'stock' });
    await written.session.eval('(defmethod weigh ((it bag)) 1)', { package: 'stock' });
    expect((await impact('bag')).replace(/evaluated 2[-\dT:.]*Z/g, 'evaluated TIME')).toMatchSnapshot();
  });
});

test('methods of inherited generic functions have the names of these, and evaluated ones their own text', async () => {
  const { session } = written;
  await written.load('printed.lisp', '(in-package :stock)\n(defclass crate () ())\n');
  await session.eval(
    '(in-package :stock) (defmethod print-object ((it crate) stream) (write-string "crate" stream)) (in-package :cl-user)',
  );
  const methods = /Methods that specialize on it[\s\S]*?(?=\n\n|$)/;
  expect(methods.exec(await impact('crate'))?.[0].replace(/\d{4}-\S+/, 'TIME')).toBe(
    `Methods that specialize on it (1):
  COMMON-LISP::PRINT-OBJECT  evaluated TIME  (defmethod print-object ((it crate) stream) (write-string "crate" stream))`,
  );
  await written.load(
    'printed.lisp',
    '(in-package :stock)\n(defclass crate () ())\n(defmethod print-object ((it crate) stream) (write-string "crate" stream))\n',
  );
  expect(methods.exec(await impact('crate'))?.[0]).toBe(
    `Methods that specialize on it (1):
  COMMON-LISP::PRINT-OBJECT  printed.lisp:3:30  (defmethod print-object ((it crate) stream) (write-string "crate" stream))`,
  );
});

test('an accessor is not called by the definition that makes it', async () => {
  expect(await written.session.text('who_calls', { name: 'stock::sack-mass' })).toBe(
    'Functions that call STOCK::SACK-MASS:\n\n  STOCK::WEIGH',
  );
});

test('calls that SBCL has not recorded are told of a function that goes away', async () => {
  await written.load(
    'table.lisp',
    "(in-package :stock)\n(eval-when (:compile-toplevel :load-toplevel :execute) (defun row (x y) (list x y)))\n(defparameter *table* '#.(row 1 2))\n",
  );
  const [, removed] = (await impact('row')).split('\n\n');
  expect(removed).toMatchInlineSnapshot(`
    "Possible calls, not in SBCL's cross references (1):
      STOCK::*TABLE* (initial value)  table.lisp:3:26  (defparameter *table* '#.(row 1 2))"
  `);
});
