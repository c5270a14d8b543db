// The outline of a folder: what an agent reads first, in place of all files.

import { beforeAll, describe, expect, test } from 'vitest';
import { sharedWorkspace } from '../files/sessions.ts';

const at = sharedWorkspace();
const outline = (path: string) => at.answer('read_definition', { path });

beforeAll(() => {
  const write = (name: string, ...lines: string[]) => at.put(name, `${lines.join('\n')}\n`);
  write('none/README.md', 'Nothing.');
  write(
    'shop/shop.asd',
    '(defsystem "shop" :depends-on ("money" (:feature :sbcl (:version "clocks" "2")))',
    '  :components ((:file "package") (:module "src" :components ((:file "model") (:file "api")))))',
    '(defsystem "shop/tests" :depends-on ("shop") :components ((:file "tests")))',
  );
  write('shop/package.lisp', '(defpackage :shop (:use :cl) (:export #:price #:order))');
  write(
    'shop/src/api.lisp',
    '(in-package :shop)',
    '(defun price (order)',
    '  "Returns the \\"price\\" of ORDER."',
    '  (* *rate* (total order)))',
    '(defun helper (total) total)',
    ...Array(60).fill(';'),
    '(defmethod total ((order order)) 1)',
    '(defmethod total ((order string)) 2)',
  );
  write(
    'shop/src/model.lisp',
    '(in-package :shop)',
    '(defvar *rate* 2)',
    '(defclass order () ())',
    '(defgeneric total (order))',
    '(defstruct (line (:constructor make-line (n))) n)',
    ...Array(60).fill(';'),
  );
  write(
    'shop/tests.lisp',
    '(in-package :shop)',
    '(deftest* prices (price 1))',
    '(check-all prices 1)',
    '(check-all more 2)',
  );
});

describe('the outline of a folder', () => {
  test('has the systems, and the files in load order with what they define, export and use', async () => {
    expect(
      await outline('shop'),
    ).toBe(`shop has 4 Lisp files with 137 lines. The uses were found by searching the text for names.

System shop (shop.asd, 3 files), needs money clocks
System shop/tests (shop.asd, 1 file), needs shop

package.lisp: 1 line
  package shop: 2 exported names

src/model.lisp: 65 lines, in shop
  defclass, exported: order
  defvar: *rate*
  defgeneric: total
  defstruct: line

src/api.lisp: 67 lines, in shop, uses src/model.lisp
  defun, exported: price
  defun: helper
  defmethod: total x2

tests.lisp: 4 lines, in shop, uses src/api.lisp
  deftest*: prices
  other forms: check-all 2`);
  });

  test('says what to do when there is no Lisp file', async () => {
    expect(await outline('none')).toBe('failed: There is no Lisp file in none. Name another folder.');
  });

  test('has the first lines of docstrings where a file has room for them', async () => {
    expect(await outline('shop/src')).toMatch(
      /^shop\/src has 2 Lisp files[\s\S]*defmethod: total x2\n {2}price {2}Returns the "price" of ORDER\.\n/,
    );
  });
});
