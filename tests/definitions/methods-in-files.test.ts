// Methods that stand in files which nobody loaded: all of them are told.

import { beforeAll, expect, test } from 'vitest';
import { sharedWorkspace } from '../files/sessions.ts';

const KINDS = `(in-package :kinds)
(defgeneric size (thing))
${Array.from({ length: 12 }, (_, n) => `(defmethod size ((thing kind-${n})) ${n})`).join('\n')}
(eval-when (:load-toplevel :execute)
  (defmethod size ((thing inner)) (size kind-1)))
(defmethod (setf size) (new (thing kind-1)) new)
#+sbcl (defmethod size ((thing native)) -1)
#-sbcl (defmethod size ((thing foreign)) -2)
`;

const at = sharedWorkspace();
beforeAll(() => {
  at.put('kinds.lisp', KINDS);
  at.put('other.lisp', '(in-package :other)\n(defun size (thing) thing)\n');
});

test('methods of a name are listed below its generic function, in other forms and for this Lisp too', async () => {
  const listed = [
    ...Array.from({ length: 12 }, (_, n) => [`((thing kind-${n}))`, n + 3] as const),
    ['((thing inner))', 16] as const,
    ['((thing native))', 18] as const,
  ].map(([list, line]) => `  (defmethod size ${list})  kinds.lisp:${line}`);
  expect(await at.answer('read_definition', { name: 'kinds::size' })).toBe(
    `kinds.lisp:2  kinds::size (found by its name in the file)

(defgeneric size (thing))

Methods (14; methods: true reads them):
${listed.join('\n')}`,
  );
});

test('the texts of all are read on demand', async () => {
  const text = await at.answer('read_definition', { name: 'kinds::size', methods: true });
  expect(text.match(/^\(defmethod size /gm)).toHaveLength(14);
  expect(text).toContain('kinds.lisp:16  kinds::size (found by its name in the file)');
});

test('one method is read by its specializers, and a setf function by its name', async () => {
  expect(await at.answer('read_definition', { name: '(defmethod kinds::size (kind-11))' })).toBe(
    'kinds.lisp:14  kinds::size (found by its name in the file)\n\n(defmethod size ((thing kind-11)) 11)',
  );
  expect(await at.answer('read_definition', { name: '(setf kinds::size)' })).toBe(
    'kinds.lisp:17  (setf kinds::size) (found by its name in the file)\n\n(defmethod (setf size) (new (thing kind-1)) new)',
  );
});

test('methods that were evaluated are told with their time and form, as functions are', async () => {
  await at.answer('eval_form', {
    form: '(defpackage :loaded (:use :cl))\n(in-package :loaded)\n(defgeneric (setf place) (new thing))\n(defmethod (setf place) (new (thing symbol)) new)',
  });
  const evaluated = /evaluated \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
  const reported = async (tool: string, args: object) =>
    (await at.answer(tool, args)).replace(evaluated, 'evaluated TIME');
  const method = '(defmethod (setf place) (new (thing symbol)) new)';
  const row = `(COMMON-LISP::T COMMON-LISP::SYMBOL)  evaluated TIME by ${method}`;
  expect(await reported('describe_symbol', { symbol: 'loaded::place' })).toContain(
    `Defined: evaluated TIME by (defgeneric (setf place) (new thing))\n  Methods (1):\n    ${row}`,
  );
  expect(await reported('read_definition', { name: '(setf loaded::place)' })).toContain(
    `Methods (1; methods: true reads them):\n  ${row}`,
  );
  expect(
    await reported('describe_symbol', { symbol: '(setf loaded::place)', arguments: ['1', 'symbol'] }),
  ).toContain(`  1. ${row}`);
});

test('what code of a file made is told with the form that ran the code', async () => {
  at.put(
    'made.lisp',
    "(defpackage :made (:use :cl))\n(in-package :made)\n(defgeneric limit (x))\n(dolist (key '(:x :y))\n  (eval `(defmethod limit ((x (eql ,key))) ,key)))\n(eval (list 'defun 'bound '() 1))\n",
  );
  await at.answer('load_file', { path: 'made.lisp' });
  const methods = 'Methods (2):\n    ((EQL :Y))  made.lisp:4:1\n    ((EQL :X))  made.lisp:4:1';
  expect(await at.answer('describe_symbol', { symbol: 'made::limit' })).toContain(methods);
  expect(await at.answer('read_definition', { name: '(defmethod made::limit ((eql :x)))' })).toBe(
    "made.lisp:4-5  MADE::LIMIT ((EQL :X)) [METHOD] (made by the code of this form)\n\n(dolist (key '(:x :y))\n  (eval `(defmethod limit ((x (eql ,key))) ,key)))",
  );
  expect(await at.answer('read_definition', { name: 'made::bound' })).toBe(
    "made.lisp:6  MADE::BOUND [FUNCTION] (made by the code of this form)\n\n(eval (list 'defun 'bound '() 1))",
  );
  // The form is not in the file any more.
  at.put('made.lisp', '(defpackage :made (:use :cl))\n(in-package :made)\n');
  await at.answer('load_file', { path: 'made.lisp' });
  expect(await at.answer('read_definition', { name: 'made::bound' })).toBe(
    'no source (made by code of made.lisp)  MADE::BOUND [FUNCTION]',
  );
});

test('a class is read before the slots of others that have its name, which are told by their places', async () => {
  const text = '(in-package :cl-user)\n(defclass holder () ((held :reader held)))\n(defclass held () ())\n';
  at.put('held.lisp', text);
  await at.answer('load_file', { path: 'held.lisp' });
  const held = { name: 'held', package: 'cl-user' };
  expect(await at.answer('read_definition', held)).toBe(
    `held.lisp:3  COMMON-LISP-USER::HELD [CLASS]

(defclass held () ())

held.lisp:2  COMMON-LISP-USER::HELD (COMMON-LISP-USER::HOLDER) [METHOD]`,
  );
  expect(await at.answer('read_definition', { ...held, kind: 'generic-function' })).toContain(
    '(defclass holder',
  );
});
