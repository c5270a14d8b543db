// What a load leaves in the image as it was, and how the answer tells that: values of variables, proclaimed types, exports, and
// instances of classes with other slots.

import { describe, expect, test } from 'vitest';
import { compare, load, loaded, session, withPackageP } from './package-p.ts';

withPackageP();

describe('a warning that comes of what the image had before', () => {
  const mark =
    '\n      (This compares with what the image had before; in a fresh image there may be no such warning.)';

  test('about a proclaimed type says so', async () => {
    await loaded('e.lisp', '(declaim (ftype (function (integer) t) fare))', '(defun fare (x) x)');
    const text = await loaded('e.lisp', '(declaim (ftype (function (string) t) fare))', '(defun fare (x) x)');
    expect(text).toMatch(
      /STYLE-WARNING \(.*\): The new FTYPE proclamation for P::FARE.*old FTYPE proclamation/s,
    );
    expect(text).toContain(mark);
    expect(await load('e.lisp')).toBe('Loaded e.lisp');
  });

  test('about the exports of a package says so', async () => {
    await loaded('e.lisp', '(defpackage variance (:export "A" "B"))');
    const text = await loaded('e.lisp', '(defpackage variance (:export "A"))');
    // DEFPACKAGE signals it when the file is compiled, and when it is loaded.
    expect(text).toMatch(
      /^Loaded e\.lisp\n\nWarnings \(1\):\n {2}e\.lisp\n {4}WARNING \(.*\): VARIANCE also exports the following symbols:\n/,
    );
    expect(text).toContain(mark);
  });
});

describe('a variable', () => {
  test('that is bound keeps its value, which is told when the file says another', async () => {
    await loaded('e.lisp', '(defvar *cfg* 10 "Old.")', '(defvar *table* (make-hash-table))');
    const changed = await loaded('e.lisp', '(defvar *cfg* 20 "New.")', '(defvar *table* (make-hash-table))');
    const said = 'Loaded e.lisp\n\nNot set again, because bound: P::*CFG* is 10, the file says 20.';
    expect(changed).toBe(said);
    expect(await load('e.lisp')).toBe('Loaded e.lisp\n\nStill not set again: P::*CFG*.');
    expect(await compare('e.lisp')).toBe('Not set again, because bound: P::*CFG* is 10, the file says 20.');
    await loaded('e.lisp', '(defvar *cfg* 10)', '(defvar *table* (make-hash-table))');
    expect(await compare('e.lisp')).toBe('The image and e.lisp agree.');
  });

  test('of a variable that was assigned since, is told when the file gets yet another value', async () => {
    await loaded('e.lisp', '(defvar *cfg* 1)');
    expect(await loaded('e.lisp', '(defvar *cfg* 2)')).toContain('P::*CFG* is 1, the file says 2.');
    await session.eval('(setf p::*cfg* 5)');
    expect(await loaded('e.lisp', '(defvar *cfg* 2)')).toBe('Loaded e.lisp');
    expect(await loaded('e.lisp', '(defvar *cfg* 3)')).toContain('P::*CFG* is 5, the file says 3.');
    expect(await compare('e.lisp')).toBe('Not set again, because bound: P::*CFG* is 5, the file says 3.');
  });

  test('that was set before the first load is told when the file says another constant', async () => {
    await session.eval('(progn (defvar p::*cfg* "a") (defvar p::*same* 7))');
    expect(await loaded('e.lisp', '(defvar *cfg* "b")', '(defvar *same* 7)')).toBe(
      'Loaded e.lisp\n\nNot set again, because bound: P::*CFG* is "a", the file says "b".',
    );
  });

  test('that has the constant of the file, in characters of any kind, is not told', async () => {
    await session.eval('(defvar p::*word* "Käse ☃")');
    expect(await loaded('e.lisp', '(defvar *word* "Käse ☃")')).toBe('Loaded e.lisp');
    const long = `(list ${'"Käse" '.repeat(200)}"☃")`;
    expect(await loaded('e.lisp', `(defvar *word* ${long})`)).toBe(
      `Loaded e.lisp\n\nNot set again, because bound: P::*WORD* is "Käse ☃", the file says ${long}.`,
    );
  });

  test('that the program set since is its own', async () => {
    await loaded('e.lisp', '(defvar *count* 0)', '(defparameter *p* 1)');
    await session.eval('(setf p::*count* 5 p::*p* 2)');
    expect(await load('e.lisp')).toBe('Loaded e.lisp');
  });
});

describe('classes', () => {
  const classes = (...slots: string[]) => [
    `(defclass dock () (${slots.join(' ')}))`,
    '(defclass wet-dock (dock) (depth))',
    '(define-condition full (error) (dock))',
  ];

  test('that have other slots are named, with the instances of them and of those below', async () => {
    expect(await loaded('c.lisp', ...classes('name', 'load'))).toBe('Loaded c.lisp');
    await session.eval(
      "(defparameter p::*docks* (list (make-instance 'p::dock) (make-instance 'p::wet-dock)))",
    );
    expect(await loaded('c.lisp', ...classes('(name :initform 1)', 'load'))).toBe('Loaded c.lisp');
    expect(await loaded('c.lisp', ...classes('title', 'load'))).toBe(
      'Loaded c.lisp\n\nClasses whose slots changed: P::DOCK (new P::TITLE; gone P::NAME; 2 instances change when next used).',
    );
    expect(await load('c.lisp')).toBe('Loaded c.lisp');
  });

  test('keep a slot that moves to a class above or below, or that a class below defines too', async () => {
    const moving = (above: string, below: string) => [
      `(defclass quay () (${above}))`,
      `(defclass pier (quay) (${below}))`,
    ];
    await loaded('c.lisp', ...moving('name', 'cargo depth'));
    await session.eval(
      "(progn (defparameter p::*pier* (make-instance 'p::pier)) (setf (slot-value p::*pier* 'p::cargo) 1))",
    );
    const changed = 'Loaded c.lisp\n\nClasses whose slots changed: ';
    expect(await loaded('c.lisp', ...moving('name cargo', 'depth (name :initform 1)'))).toBe(
      `${changed}P::QUAY (new P::CARGO; 1 instance changes when next used).`,
    );
    expect(await loaded('c.lisp', ...moving('name', 'depth cargo'))).toBe(
      `${changed}P::QUAY (gone P::CARGO; 1 instance changes when next used).`,
    );
    expect(await session.eval("(slot-value p::*pier* 'p::cargo)")).toBe('1');
  });

  test('are told without instances that are garbage', async () => {
    await loaded('c.lisp', ...classes('name'));
    await session.eval(
      "(progn (defparameter p::*dock* (make-instance 'p::dock)) (dotimes (i 100) (make-instance 'p::dock)))",
    );
    expect(await loaded('c.lisp', ...classes('title'))).toContain('1 instance changes when next used');
    expect(await session.text('impact_of_change', { name: 'p::dock' })).toContain(
      '\nInstances, with those of subclasses: 1\n',
    );
  });

  test('are told with those instances that still have the old slots, and the count changes none', async () => {
    await loaded('c.lisp', ...classes('name'));
    await session.eval(
      "(progn (defparameter p::*docks* (list (make-instance 'p::dock) (make-instance 'p::dock) (make-instance 'p::wet-dock))) (defvar p::*changed* 0))",
    );
    await session.eval(
      '(defmethod update-instance-for-redefined-class :after ((dock p::dock) new gone values &key) (incf p::*changed*))',
    );
    expect(await loaded('c.lisp', ...classes('title'), '(print (first *docks*))')).toContain(
      'P::DOCK (new P::TITLE; gone P::NAME; 2 instances change when next used).',
    );
    expect(await session.eval('p::*changed*')).toBe('1');
    expect(await loaded('c.lisp', ...classes('name'), "(mapc #'describe *docks*)")).toContain(
      'P::DOCK (new P::NAME; gone P::TITLE).',
    );
    expect(await session.eval('p::*changed*')).toBe('4');
  });
});
