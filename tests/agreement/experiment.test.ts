// live-lisp:forget, which takes back what was only evaluated, with the entries for it in lists and tables.

import { describe, expect, test } from 'vitest';
import { sharedProgram } from '../shared.ts';

const PROGRAM = `(defpackage :app (:use :cl))
(in-package :app)
(defvar *rules* (make-hash-table :test 'equal))
(defvar *hooks* '(old-hook))
(defvar *groups* (list (cons :before (list 'old-hook)) (cons :after nil)))
(defvar *current* 'old-hook)
(defvar *calls* 0)
(defstruct rule name function)
(defclass bus () ((listeners :initform '() :accessor listeners)))
(defvar *bus* (make-instance 'bus))
(defvar *queue* (make-array 2 :adjustable t :fill-pointer 0))
(defun old-hook () :old)
(defgeneric area (x))
(defmethod area ((x number)) x)
(defun register (name) (incf *calls*) (setf (gethash (string name) *rules*) (make-rule :name name :function (fdefinition name))))
(defun all-rules () (loop for rule being the hash-values of *rules* collect (funcall (rule-function rule))))
(defun hooks () (mapcar #'funcall *hooks*))
(defmacro define-rule (name &body body) \`(progn (defun ,name () ,@body) (register ',name)))
(define-rule old-rule 1)
`;

const session = sharedProgram('app', PROGRAM);

const REST =
  'Only the variables and property lists of the program were searched. Other effects of the evaluated forms remain.';

/** Returns the output of FORM, a call of live-lisp:forget. */
async function forget(names: string): Promise<string> {
  const text = await session.eval(`(live-lisp:forget ${names})`);
  return text.replace('; No values\n\nOutput:\n', '').trim();
}

describe('an experiment is taken back', () => {
  test('with its entry in a registry, so that a later run does not meet it', async () => {
    await session.eval('(defun zz-count () (error "half done"))');
    await session.eval("(register 'zz-count)");
    expect(await session.eval('(all-rules)')).toContain('half done');
    expect(await forget("'zz-count")).toBe(
      `Removed: function APP::ZZ-COUNT.\nRemoved from APP::*RULES*: entry "ZZ-COUNT".\n${REST}`,
    );
    expect(await session.eval('(values (all-rules) (fboundp (quote zz-count)))')).toBe('(1)\nNIL');
  });

  test('with hooks, listeners, queued calls, properties and methods', async () => {
    await session.eval(`(progn
      (defun zz-hook () :zz)
      (defclass zz-shape () ((side :initarg :side)))
      (defmethod area ((x zz-shape)) 3)
      (push 'zz-hook *hooks*)
      (push #'zz-hook (listeners *bus*))
      (vector-push-extend (list :call 'zz-hook :at 3) *queue*)
      (vector-push-extend (list :call 'old-hook :at 4) *queue*)
      (setf (get 'area 'watcher) 'zz-hook)
      nil)`);
    expect(await forget("'zz-hook 'zz-shape")).toBe(
      [
        'Removed: class APP::ZZ-SHAPE; function APP::ZZ-HOOK; method APP::AREA (APP::ZZ-SHAPE).',
        'Removed from APP::*BUS*: #<FUNCTION APP::ZZ-HOOK>.',
        'Removed from APP::*HOOKS*: APP::ZZ-HOOK.',
        'Removed from APP::*QUEUE*: (:CALL APP::ZZ-HOOK :AT 3).',
        'Removed from the property list of APP::AREA: APP::WATCHER.',
        REST,
      ].join('\n'),
    );
    expect(
      await session.eval(
        "(list (hooks) (listeners *bus*) (coerce *queue* 'list) (symbol-plist 'area) (area 3) (find-class 'zz-shape nil))",
      ),
    ).toBe('((:OLD) NIL ((:CALL OLD-HOOK :AT 4)) NIL 3 NIL)');
  });

  test('with its trace, also that of a function of a file', async () => {
    await session.eval('(progn (defun zz-traced () 1) (trace zz-traced old-hook) nil)');
    expect(await forget("'zz-traced 'old-hook")).toBe(
      [
        'Removed: function APP::ZZ-TRACED.',
        'Nothing was removed for APP::OLD-HOOK: no finished call evaluated a definition of that name.',
        'No longer traced: APP::ZZ-TRACED, APP::OLD-HOOK.',
        REST,
      ].join('\n'),
    );
    expect(await session.eval('(list (trace) (old-hook))')).toBe('(NIL :OLD)');
  });

  test('and the answer names what stays wrapped', async () => {
    await session.eval(`(progn (defun zz-advice (next) (list :advice (funcall next)))
      (sb-int:encapsulate 'old-hook 'zz (lambda (next) (funcall 'zz-advice next))) nil)`);
    expect(await forget("'zz-advice 'old-hook")).toBe(
      [
        'Removed: function APP::ZZ-ADVICE.',
        'Nothing was removed for APP::OLD-HOOK: no finished call evaluated a definition of that name.',
        'Still wrapped: APP::OLD-HOOK. To unwrap one, call SB-INT:UNENCAPSULATE with the name and type given to SB-INT:ENCAPSULATE.',
        REST,
      ].join('\n'),
    );
    await session.eval("(sb-int:unencapsulate 'old-hook 'zz)");
    expect(await session.eval('(old-hook)')).toBe(':OLD');
  });

  test('also in an image that is built again', async () => {
    await session.eval('(defun zz-again () 1)');
    await forget("'zz-again");
    await session.call('restart_image', {});
    expect(await session.eval("(list (fboundp 'zz-again) (all-rules))")).toBe('(NIL (1))');
  });

  test('and the answer says when the values are too large to search', async () => {
    await session.eval(
      '(progn (defvar *many* (make-list 600000 :initial-element 1)) (defun zz-many () 1) nil)',
    );
    expect(await forget("'zz-many '*many*")).toBe(
      `Removed: function APP::ZZ-MANY; variable APP::*MANY*.\nThe values of variables are too large to search, so they may still refer to it.\n${REST}`,
    );
  });

  test('but nothing is that another definition may need, and the answer names it', async () => {
    await session.eval(`(progn
      (defun zz-late () :zz)
      (setf *current* 'zz-late (cdr (first *groups*)) (list 'zz-late 'old-hook))
      (setf (gethash 'old-hook *rules*) 'zz-late)
      nil)`);
    expect(await forget("'zz-late")).toBe(
      [
        'Removed: function APP::ZZ-LATE.',
        'Still refers to it: the value of APP::*CURRENT*.',
        'Still refers to it: the value of APP::*GROUPS*.',
        'Still refers to it: the value of APP::*RULES*.',
        REST,
      ].join('\n'),
    );
    await session.eval(
      "(setf *current* 'old-hook (cdr (first *groups*)) (list 'old-hook)) (remhash 'old-hook *rules*)",
    );
  });

  test('but not a class with instances, nor its accessors', async () => {
    await session.eval(
      '(progn (defclass zz-kept () ((a :initform 1 :accessor zz-a))) (setf *current* (make-instance (quote zz-kept))) nil)',
    );
    expect(await forget("'zz-kept")).toBe(`Not removed: class APP::ZZ-KEPT, because of 1 instance.\n${REST}`);
    expect(await session.eval('(incf (zz-a *current*))')).toBe('2');
    await session.eval("(setf *current* 'old-hook)");
    expect(await forget("'zz-kept")).toBe(`Removed: class APP::ZZ-KEPT.\n${REST}`);
    expect(await session.eval("(list (fboundp 'zz-a) (fboundp '(setf zz-a)))")).toBe('(NIL NIL)');
  });

  test('but a class whose instances only values of earlier calls hold', async () => {
    await session.eval('(defclass zz-shown () ())');
    await session.eval("(list (push (make-instance 'zz-shown) (listeners *bus*)))");
    await session.eval('(list *)');
    expect(await forget("'zz-shown")).toBe(
      `Removed: class APP::ZZ-SHOWN.\nRemoved from APP::*BUS*: #<APP::ZZ-SHOWN>.\n${REST}`,
    );
  });

  test('with a class whose instance a variable holds, and a package whose function goes too', async () => {
    await session.eval(
      '(progn (defstruct zz-box a) (defvar *zz-box* (make-zz-box)) (defpackage :zz (:use) (:export #:f)) nil)',
    );
    await session.eval('(defun zz:f () 1)');
    expect(await forget("'zz-box :zz")).toBe(
      [
        'Not removed: structure APP::ZZ-BOX, because of 1 instance.',
        'Not removed: package ZZ, because of ZZ::F.',
        REST,
      ].join('\n'),
    );
    expect(await forget('\'zz-box \'*zz-box* (find-symbol "F" :zz) :zz')).toBe(
      `Removed: export ZZ::F of ZZ; function ZZ::F; package ZZ; structure APP::ZZ-BOX; variable APP::*ZZ-BOX*.\n${REST}`,
    );
    expect(await session.eval("(list (find-package :zz) (find-class 'zz-box nil))")).toBe('(NIL NIL)');
  });

  test('but not what replaced a definition of a file, or was never evaluated', async () => {
    await session.eval('(defun old-hook () :newer)');
    expect(await forget("'old-hook")).toBe(
      "Not removed: function APP::OLD-HOOK, which replaced a definition from a file. To restore the file's definition, call load_file with the file.",
    );
    await session.call('load_file', { path: 'app.lisp' });
    expect(await forget("'old-hook 'nothing")).toBe(
      'Nothing was removed for APP::OLD-HOOK, APP::NOTHING: no finished call evaluated a definition of that name.',
    );
    expect(await session.eval("(progn (defun zz-now () 1) (live-lisp:forget 'zz-now))")).toContain(
      'Nothing was removed for APP::ZZ-NOW: no finished call evaluated a definition of that name.',
    );
    expect(await forget("'zz-now 'nothing")).toBe(
      `Removed: function APP::ZZ-NOW.\nNothing was removed for APP::NOTHING: no finished call evaluated a definition of that name.\n${REST}`,
    );
    expect(await session.eval('(hooks)')).toBe('(:OLD)');
    expect((await session.call('eval_form', { form: '(live-lisp:forget "zz")' })).text).toMatch(
      /^Error: LIVE-LISP:FORGET takes symbols such as 'f and lists such as '\(setf f\), but not "zz"\. Nothing was removed\.\n/,
    );
  });
});
