// In which package the names in a file are, for every tool that reads or loads it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { SourceText } from '../../src/source/text.ts';
import { TopLevelForms } from '../../src/source/top-level.ts';
import { APPROVE, sharedWorkspace } from '../files/sessions.ts';

const TWO = `(defpackage :pf-one (:use :cl))
(defpackage :pf-two (:use :cl))
(cl:in-package :pf-one)
(defun total (x) x)
(defun user () (total 1))
(eval-when (:compile-toplevel :load-toplevel :execute)
  (cl:in-package #:pf-two))
(defun total (x) x)
(defun user () (total 2))
`;

const SYSTEM = `(defsystem "pf-system")
(defun pf-version (x) x)
(defun pf-user () (pf-version 1))
`;

const at = sharedWorkspace();
beforeAll(async () => {
  at.human = () => APPROVE;
  at.put('two.lisp', TWO);
  at.put('pf-system.asd', SYSTEM);
  await at.answer('load_file', { path: 'two.lisp' });
});

/** Returns TEXT as a Lisp string. */
const lispString = (text: string) => `"${text.replace(/[\\"]/g, '\\$&')}"`;
const edit = (...edits: object[]) => at.answer('edit_definitions', { edits, load: true });

test('functions of one name in two packages of a file are each checked for the calls that break', async () => {
  const answer = await edit(
    { definition: 'pf-one::total', text: '(defun total (x y) (list x y))' },
    { definition: 'pf-two::total', text: '(defun total (x y) (list x y))' },
  );
  expect(answer).toBe(`Changed two.lisp: lines 4, 8, +2 −2. It has 8 top-level forms now.

Loaded 2 forms of two.lisp

Calls that no longer fit PF-ONE::TOTAL (1 of 1):
  PF-ONE::USER  two.lisp:5:16  (defun user () (total 1))  [1 argument, at least 2 needed]

Calls that no longer fit PF-TWO::TOTAL (1 of 1):
  PF-TWO::USER  two.lisp:9:16  (defun user () (total 2))  [1 argument, at least 2 needed]`);
});

describe('the definition of a system', () => {
  test('is loaded in the package in which ASDF reads it', async () => {
    expect(await at.answer('load_file', { path: 'pf-system.asd' })).toMatch(/^Loaded pf-system\.asd/);
    expect(await at.answer('who_calls', { name: 'pf-version', package: 'asdf-user' })).toContain(
      'ASDF/USER::PF-USER',
    );
  });

  test('is edited and loaded in part there, and its callers are checked', async () => {
    const answer = await edit({ definition: 'asdf-user::pf-version', text: '(defun pf-version (x y) y)' });
    expect(answer).toContain('Calls that no longer fit ASDF/USER::PF-VERSION (1 of 1):');
  });

  test('is renamed there', async () => {
    const answer = await at.answer('rename_symbol', {
      name: 'pf-user',
      package: 'asdf-user',
      to: 'pf-other',
    });
    expect(answer).toMatch(/^Renamed/);
    expect(readFileSync(join(at.root, 'pf-system.asd'), 'utf8')).toContain('(defun pf-other ()');
  });

  test('is read there', async () => {
    at.put('pf-unloaded.asd', '(defun pf-unloaded () 1)\n');
    at.put('pf-unloaded.lisp', '(in-package :pf-one)\n(defun pf-unloaded () 2)\n');
    const read = (name: string) => at.answer('read_definition', { name, package: 'asdf-user' });
    expect(await read('pf-unloaded')).toContain('pf-unloaded.asd:1');
    expect(await read('pf-unloaded')).not.toContain('pf-unloaded.lisp');
    expect(await read('pf-one::pf-unloaded')).not.toContain('pf-unloaded.asd');
  });
});

/** Forms, the package that is in force behind each, and that in a compiled file where it is another one. */
const ENTERING: [form: string, entered: string | undefined, compiled?: string][] = [
  ['(in-package :pf-one)', 'PF-ONE'],
  ['(in-package |pf Small|)', 'pf Small'],
  ['(progn (in-package :pf-two) (in-package :pf-one))', 'PF-ONE'],
  ['(eval-when (:execute) (locally (in-package :pf-one)))', 'PF-ONE', 'COMMON-LISP-USER'],
  ['#+sbcl (in-package :pf-one) #-sbcl (in-package :pf-two)', 'PF-ONE'],
  ["'(in-package :pf-two)", undefined],
];

describe.each(ENTERING)('%s', (form, entered, compiled = entered) => {
  const text = `${form}\n(defun in-it () 1)`;

  test('is read in the server', () => {
    const forms = new TopLevelForms(new SourceText(text), new Set(['SBCL']));
    expect(forms.packageAt(text.indexOf('(defun in-it'))).toBe(entered);
  });

  test('is read in the image', async () => {
    if (entered)
      await at.answer('eval_form', {
        form: `(unless (find-package ${lispString(entered)}) (make-package ${lispString(entered)}))`,
      });
    at.put('entering.lisp', text);
    await at.answer('load_file', { path: 'entering.lisp' });
    const code = `(let ((package (live-lisp.jobs::form-package "${join(at.root, 'entering.lisp')}" nil
                         (1- (length (live-lisp.sources::forms-of ${lispString(text)}))))))
      (if (packagep package) (package-name package) package))`;
    expect(await at.answer('eval_form', { form: code })).toBe(JSON.stringify(compiled ?? 'COMMON-LISP-USER'));
  });
});
