// What load_file with forget removes from the image, and what it lists before.

import { describe, expect, test } from 'vitest';
import { compare, forget, LISTED, load, loaded, put, session, withPackageP } from './package-p.ts';

withPackageP();

describe('forgetting', () => {
  test('lists first what it will remove, unless an answer has listed it', async () => {
    await loaded('e.lisp', '(defun a () 1)', '(defun b () 1)', '(defun c () 1)');
    put('e.lisp', '(defun c () 1)');
    const listed = `Loaded e.lisp\n\nIn the image but no longer in e.lisp: functions P::A, P::B.\n${LISTED}`;
    expect(await load('e.lisp', { forget: true })).toBe(listed);
    expect(await session.eval('(list (p::a) (p::b))')).toBe('(1 1)');
    const removed = 'Loaded e.lisp\n\nRemoved, because no longer in the file: functions P::A, P::B.';
    expect(await load('e.lisp', { forget: true })).toBe(removed);
    expect(await load('e.lisp', { forget: true })).toBe('Loaded e.lisp');
    await loaded('e.lisp', '(defun a () 1)', '(defun b () 1)', '(defun c () 1)');
    // It is not what was listed before: it has been defined anew.
    put('e.lisp', '(defun c () 1)');
    expect(await load('e.lisp', { forget: true })).toBe(listed);
    await compare('e.lisp');
    expect(await load('e.lisp', { forget: true })).toBe(removed);
  });

  test('removes nothing where the file has lost more than what was listed', async () => {
    await loaded('e.lisp', '(defun a () 1)', '(defun b () 1)', '(defun c () 1)');
    expect(await loaded('e.lisp', '(defun b () 1)', '(defun c () 1)')).toContain('e.lisp: function P::A.');
    put('e.lisp', '(defun c () 1)');
    expect(await load('e.lisp', { forget: true })).toBe(
      `Loaded e.lisp\n\nIn the image but no longer in e.lisp: functions P::B, P::A.\n${LISTED}`,
    );
    expect(await load('e.lisp', { forget: true })).toBe(
      'Loaded e.lisp\n\nRemoved, because no longer in the file: functions P::A, P::B.',
    );
  });

  test('lists a generic function that it will remove with its methods', async () => {
    await loaded(
      'e.lisp',
      '(defgeneric area (x))',
      '(defmethod area ((x integer)) x)',
      '(defmethod made-so ((x integer)) x)',
      '(defgeneric kept (x))',
      '(defmethod kept ((x integer)) x)',
    );
    await loaded('other.lisp', '(defmethod kept ((x string)) x)');
    put('e.lisp', '');
    expect(await load('e.lisp', { forget: true })).toBe(
      `Loaded e.lisp\n\nIn the image but no longer in e.lisp: generic function P::AREA; methods P::AREA (COMMON-LISP::INTEGER), P::KEPT (COMMON-LISP::INTEGER), P::MADE-SO (COMMON-LISP::INTEGER).\n${LISTED}`,
    );
    expect(await load('e.lisp', { forget: true })).toBe(
      'Loaded e.lisp\n\nRemoved, because no longer in the file: methods P::AREA (COMMON-LISP::INTEGER), P::KEPT (COMMON-LISP::INTEGER), P::MADE-SO (COMMON-LISP::INTEGER); generic function P::AREA.',
    );
    expect(
      await session.eval("(mapcar (lambda (f) (and (fboundp f) t)) '(p::area p::made-so p::kept))"),
    ).toBe('(NIL NIL T)');
  });

  test.each([
    ['function P::X', '(defun x () 1)', '(defun x () 2)', '(p::x)'],
    [
      'method P::M (COMMON-LISP::INTEGER)',
      '(defmethod m ((x integer)) 1)',
      '(defmethod m ((x integer)) 2)',
      '(p::m 0)',
    ],
  ])('leaves a %s that replaced what another file still has', async (item, one, two, call) => {
    await loaded('e.lisp', '(defgeneric m (x))', one);
    await loaded('other.lisp', two);
    put('other.lisp');
    expect(await forget('other.lisp')).toBe(
      `Loaded other.lisp\n\nNot removed: ${item}, because of the definition in e.lisp.`,
    );
    expect(await session.eval(call)).toBe('2');
    await load('e.lisp');
    expect(await session.eval(call)).toBe('1');
    expect(await forget('other.lisp')).toBe('Loaded other.lisp');
  });

  test('does nothing when the load fails', async () => {
    await loaded('e.lisp', '(defun a () 1)');
    put('e.lisp', '(error "No.")');
    await load('e.lisp', { forget: true });
    expect(await session.eval('(p::a)')).toBe('1');
  });

  test('removes a package with all in it', async () => {
    put('p.lisp', '(defpackage "Q" (:use "CL"))', '(in-package "Q")', '(defun q () 1)');
    await load('p.lisp');
    put('p.lisp', '(defpackage "P" (:use "CL"))');
    expect(await forget('p.lisp')).toBe(
      'Loaded p.lisp\n\nRemoved, because no longer in the file: function Q::Q; package Q.',
    );
    expect(await session.eval('(find-package "Q")')).toBe('NIL');
  });
});
