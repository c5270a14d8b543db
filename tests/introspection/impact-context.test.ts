// What impact_of_change tells besides calls: the text of the definition, and files that are not loaded.

import { linkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';
import { withSession } from '../shared.ts';

describe('besides', () => {
  const folder = temporaryFolder();
  const write = (name: string, text: string) => folder.put(name, text);
  let other: Session;
  beforeAll(async () => {
    write(
      'own.lisp',
      `(defpackage own (:use cl) (:export twice))\n(in-package own)\n(defun twice (x)\n\n  (* 2 x))\n(defun large ()\n  "${'a'.repeat(2000)}")\n`,
    );
    write('user.lisp', "(in-package own)\n(defun user () (twice 1))\n(print (list (twice 2)\n  #'twice))\n");
    write(
      'test.lisp',
      '(defpackage "OWN TEST" (:use cl own))\n(in-package "OWN TEST")\n(assert (twice 1))\n\'(a twice)\n',
    );
    write('other.lisp', '(defpackage other (:use cl))\n(in-package other)\n(defun twice (x) x)\n(twice 1)\n');
    other = await startSession({ cwd: folder.path });
    await other.text('load_file', { path: 'own.lisp' });
  });
  afterAll(async () => {
    await other.close();
    folder.remove();
  });
  const reported = (more: object) => other.text('impact_of_change', { package: 'own', ...more });

  test('the text of the definition, unless the whole new one was given', async () => {
    const text = 'own.lisp:3-5  OWN::TWICE [FUNCTION]\n(defun twice (x)\n\n  (* 2 x))';
    expect(await reported({ name: 'twice', lambda_list: '(x y)' })).toContain(`\n\n${text}`);
    expect(await reported({ name: 'twice', definition: '(defun twice (x) (+ x x))' })).not.toContain(
      'own.lisp:3',
    );
    expect(await reported({ name: 'large' })).toMatch(
      /\n\nown\.lisp:6-7 {2}OWN::LARGE \[FUNCTION\]\nread_definition has its text\.$/,
    );
  });

  test('functions that look for symbols by their names, but not macros that do, or functions of other packages', async () => {
    write(
      'finding.lisp',
      '(in-package own)\n(defun dispatch (name)\n  (funcall (intern (format nil "DO-~a" name) :own)))\n(defun (setf found) (v n) (setf (symbol-value (find-symbol n)) v))\n(defmacro made (name) `(defun ,(intern (format nil "MADE-~a" name)) ()))\n(defun do-pack () :packed)\n(defun do-read (in) (funcall (read in)))\n(defclass crate () ())\n',
    );
    await other.text('load_file', { path: 'finding.lisp' });
    await other.text('eval_form', {
      form: '(defpackage elsewhere (:use cl)) (defun elsewhere::find-it (x) (find-symbol x))',
    });
    const found =
      'Code that may call it through a symbol from INTERN, FIND-SYMBOL or the reader (3):\n  OWN::(SETF FOUND)  finding.lisp:4:1  (defun (setf found) (v n) (setf (symbol-value (find-symbol n)) v))\n  OWN::DISPATCH  finding.lisp:2:1  (defun dispatch (name)\n  OWN::DO-READ  finding.lisp:7:1  (defun do-read (in) (funcall (read in)))\n\n';
    expect(await reported({ name: 'do-pack' })).toContain(`No calls are known.\n\n${found}Tests: `);
    // The reader was just told of them.
    const note =
      '\nNote: it may be called (as noted earlier) through a computed symbol by OWN::(SETF FOUND), OWN::DISPATCH, OWN::DO-READ.';
    expect(await other.text('who_calls', { name: 'do-pack', package: 'own' })).toBe(
      `No callers found for OWN::DO-PACK${note}`,
    );
    const again =
      'It may be called (as noted earlier) through a computed symbol by OWN::(SETF FOUND), OWN::DISPATCH, OWN::DO-READ.\n\n';
    expect(await reported({ name: 'do-pack' })).toContain(`No calls are known.\n\n${again}Tests: `);
    expect(await reported({ name: 'crate' })).toContain(`\n\n${again.replace('called', 'used')}Instances`);
    expect(await reported({ name: 'mapcar', package: 'elsewhere' })).not.toContain('DISPATCH');
  });

  test('uses of a macro in top-level forms, of which SBCL records none', async () => {
    const routes = Array.from({ length: 60 }, (_, index) => `(define-route "/${index}" ${index})`);
    write(
      'routes.lisp',
      `(in-package own)\n(defvar *routes* nil)\n(defmacro define-route (path body) \`(push (cons ,path ,body) *routes*))\n${routes.join('\n')}\n`,
    );
    await other.text('load_file', { path: 'routes.lisp' });
    const call = { name: 'define-route', limit: 2 };
    expect(await reported({ ...call, lambda_list: '(path body)' })).toContain(
      '\n\n60 calls with known arguments: all fit.\n\n',
    );
    expect(await reported({ ...call, lambda_list: '(path)' })).toContain(
      '\n\nCalls that no longer fit (60 of 60 calls; each: 2 arguments, at most 1 taken):\n  routes.lisp:4:1  (define-route "/0" 0)\n',
    );
    expect(await reported(call)).toContain('\n\nCalls that its removal would break (60):\n');
    expect(await other.text('who_calls', { name: 'define-route', package: 'own', limit: 5 })).toMatch(
      /\n {2}\.\.\.(?:\n|$)/,
    );
  });

  test('calls whose arguments cannot be told are not among those that fit', async () => {
    write(
      'sent.lisp',
      '(in-package own)\n(defun send (x &key color) (list x color))\n(defun use (a k v) (send a k v))\n',
    );
    await other.text('load_file', { path: 'sent.lisp' });
    const text = await reported({ name: 'send', lambda_list: '(x &key colour)' });
    expect(text).toContain('\n\nUses that cannot be checked (1):\n  OWN::USE  sent.lisp:3:20');
    expect(text).not.toContain('all fit');
  });

  test('files that are not loaded and call it', async () => {
    expect(await reported({ name: 'twice' })).toContain(
      '\n\nFiles that name it, not checked because they are not loaded: test.lisp:3  user.lisp:2,3,4\n\n',
    );
    await other.text('load_file', { path: 'user.lisp' });
    expect(await reported({ name: 'twice' })).toContain(
      'Files that name it, not checked because they are not loaded: test.lisp:3\n\n',
    );
    expect(await reported({ name: 'large' })).not.toContain('not loaded');
  });

  test('tests that are not loaded and reach it only through others', async () => {
    write(
      'through.asd',
      '(defsystem "through" :in-order-to ((test-op (test-op "through/tests"))) :components ((:file "through")))\n(defsystem "through/tests" :depends-on ("through") :components ((:file "through-tests")))\n',
    );
    write(
      'through.lisp',
      '(defpackage through (:use cl))\n(in-package through)\n(defun inner (x) x)\n(defun outer (x) (inner x))\n',
    );
    write('through-tests.lisp', '(in-package through)\n(defun run () (outer 2))\n');
    await other.text('load_system', { system: 'through' });
    const call = { name: 'inner', package: 'through' };
    expect(await reported(call)).toContain(
      '\n\nNo loaded test is known to reach it. Tests in these files, which are not loaded, may reach it: through-tests.lisp. Load them with load_system, then call again.\n\n',
    );
    await other.text('load_system', { system: 'through/tests' });
    expect(await reported(call)).toContain('\n\nTests that reach it (1):\n  through-tests.lisp:2:1  ');
  });

  test('tests that use it when they are compiled', async () => {
    write(
      'kept.asd',
      '(defsystem "kept" :in-order-to ((test-op (test-op "kept/tests"))))\n(defsystem "kept/tests" :depends-on ("kept") :components ((:file "kept")))\n',
    );
    write('kept.lisp', '(in-package own)\n(defvar *kept*\n  #.(twice 1))\n');
    await other.text('load_system', { system: 'kept/tests' });
    expect(await reported({ name: 'twice' })).toContain(
      '\n\nTests that reach it (1):\n  kept.lisp:2:1  (defvar *kept*\n\n',
    );
  });
});

test('a search of more than 20,000 entries is told to be incomplete, as those of read_definition and reset are', async () => {
  const folder = temporaryFolder();
  const file = folder.put('0.txt', '');
  for (let index = 1; index < 20_000; index += 1) linkSync(file, join(folder.path, `${index}.txt`));
  folder.put('own.lisp', '(defun twice (x) (* 2 x))\n');
  const note =
    'Note: not all files of the workspace were searched, because there are too many. search_in_buffer searches more.';
  try {
    await withSession({ cwd: folder.path }, async (session) => {
      await session.text('load_file', { path: 'own.lisp' });
      expect(await session.text('impact_of_change', { name: 'twice', lambda_list: '(x)' })).toContain(
        `\n\n${note}\n\nown.lisp:1  `,
      );
      expect(await session.text('read_definition', { name: 'thrice' })).toMatch(new RegExp(`\n\n${note}$`));
      await session.eval('(defvar *evaluated* 1)');
      expect(await session.text('run_tests', { failed: false, test: 'twice', reset: ['*evaluated*'] })).toBe(
        `No file has a DEFVAR or DEFPARAMETER that gives COMMON-LISP-USER::*EVALUATED* a value. No variable was set, and no tests ran. Set it with eval_form, and leave it out of parameter 'reset'.\n\n${note}`,
      );
    });
  } finally {
    folder.remove();
  }
});
