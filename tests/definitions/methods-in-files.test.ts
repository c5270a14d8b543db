// Methods that stand in files which nobody loaded: all of them are told, of libraries too.

import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openWorkspace, sharedWorkspace } from '../files/sessions.ts';
import { libraries, SOURCES } from '../libraries.ts';
import { everyNth } from '../long.ts';

const LIBRARIES = libraries('cxml', 'cl-ppcre', 'cl-containers');
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

test.each([{ methods: true }, { kind: 'method' }])('the texts of all are read with %j', async (more) => {
  const text = await at.answer('read_definition', { name: 'kinds::size', ...more });
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

/** Returns how many methods of each name stand in the Lisp files below FOLDER, as lines of them begin. */
function methodLines(folder: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.lisp')) continue;
    const text = readFileSync(join(folder, name), 'latin1')
      .toLowerCase()
      .replace(/#\|.*?\|#/gs, '');
    for (const [, method = ''] of text.matchAll(
      /(?<!#[+-].*\n(?:;.*\n)*)^\(defmethod (?:[^\s():]+:+)?([^\s():]+)\s/gm,
    ))
      counts.set(method, (counts.get(method) ?? 0) + 1);
  }
  return counts;
}

test.each(everyNth(3, LIBRARIES))('all methods in the files of %s are found', async (library) => {
  const workspace = await openWorkspace();
  try {
    cpSync(join(SOURCES, library), join(workspace.root, library), { recursive: true });
    const counts = [...methodLines(join(workspace.root, library))].filter(([, count]) => count > 8);
    expect(counts.length).toBeGreaterThan(0);
    for (const [name, count] of counts) {
      const text = await workspace.answer('read_definition', { name, package: 'nowhere', methods: true });
      expect([name, text.match(/^\(defmethod /gm)?.length]).toEqual([name, count]);
    }
  } finally {
    await workspace.close();
  }
});
