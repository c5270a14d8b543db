// What describe_symbol tells besides functions, variables and classes, and which methods run in the less usual cases.

import { beforeAll, describe, expect, test } from 'vitest';
import { sharedSession } from '../shared.ts';
import { prepare } from './looks.ts';

const session = sharedSession();
beforeAll(async () => {
  await prepare(
    session,
    `(defpackage :named (:use :cl)) (in-package :named)
     (define-method-combination joined :documentation "Joins." :operator list)
     (declaim (declaration marked) (ftype (function (fixnum) t) promised))
     (sb-alien:define-alien-type pair (sb-alien:struct pair (a sb-alien:int)))
     (sb-alien:define-alien-variable "environ" (* sb-alien:c-string))
     (define-compiler-macro early (x) x)
     (defun late (x) x) (define-compiler-macro late (y) y)
     (defclass animal () ((name :initarg :name :accessor name)))
     (defclass dog (animal) ((name :reader name)))
     (define-condition trouble (error) ())
     (define-condition worse (trouble simple-condition) ())
     (defstruct base) (defstruct (more (:include base)))
     (define-method-combination with-arguments () ((primary ()))
       (:arguments x &key key) (:generic-function function)
       (list 'progn x key (list 'quote (sb-mop:generic-function-name function))
             (list 'call-method (first primary) (rest primary))))
     (defgeneric combined (x &key key) (:method-combination with-arguments))
     (defmethod combined ((x animal) &key key) (list :animal key))
     (defmethod combined ((x dog) &key key) (declare (ignore key)) (call-next-method))
     (defgeneric kind (x) (:method (x) x))
     (macrolet ((define (&rest names)
                  (list* 'progn (loop for name in names
                                      collect (list 'defmethod 'kind (list (list 'x name))
                                                    (list 'cons (list 'quote name) '(when (next-method-p) (call-next-method))))))))
       (define condition serious-condition error simple-condition trouble worse structure-object base more
               list sequence symbol null vector array pathname character number real standard-object animal dog))
     (in-package :cl-user)`,
  );
});

describe('what else a symbol names', () => {
  const things = async (symbol: string) =>
    (await session.text('describe_symbol', { symbol })).split('\n\n').slice(1).join('\n\n');

  test.each([
    ['joined', 'method combination\n  Documentation: Joins.'],
    ['marked', 'declaration'],
    ['promised', 'declaimed function\n  Type: (FUNCTION (FIXNUM) *)'],
    ['pair', 'alien type'],
    ['environ', 'alien variable'],
    ['early', 'compiler macro\n  Arguments: (X)'],
  ])('%s', async (name, text) => {
    expect(await things(`named::${name}`)).toBe(text);
  });

  test('a compiler macro stands beside its function', async () => {
    expect(await things('named::late')).toMatch(
      /^function\n.*Has a compiler macro\..*\n\ncompiler macro\n {2}Arguments: \(Y\)/s,
    );
  });

  test('S0.17 what is a type with arguments only is a type', async () => {
    expect(await things('satisfies')).toMatch(/^type\n/);
    expect(await things('not')).toMatch(/^function\n.*\n\ntype\n/s);
    const { text } = await session.call('list_package_symbols', { package: 'cl', limit: 2000 });
    expect(text).toMatch(/SATISFIES \[TYPE\]/);
  });
});

describe('the order of methods', () => {
  const order = (symbol: string, ...args: string[]) =>
    session.text('describe_symbol', { symbol, package: 'named', arguments: args });
  const entered = (text: string) =>
    [...text.matchAll(/^ {2}\d+\. (.*?) {2}(?:no source|evaluated)(?!.*not entered)/gm)].map(
      ([, method]) => method,
    );

  test('of a combination with :arguments is told', async () => {
    const text = await order('combined', 'dog');
    expect(entered(text)).toEqual(['(NAMED::DOG)', '(NAMED::ANIMAL)']);
    expect(text).toContain('(QUOTE NAMED::COMBINED) 1)');
    expect(await session.eval("(named::combined (make-instance 'named::dog) :key 2)")).toBe('(:ANIMAL 2)');
  });

  test('ends at a method that only reads a slot', async () => {
    expect(entered(await order('name', 'dog'))).toEqual(['(NAMED::DOG)']);
    expect(await order('name', 'dog')).toContain('(not entered: 1 has no CALL-NEXT-METHOD before it)');
  });

  test('tells of all behind a method without CALL-NEXT-METHOD that it keeps them from being entered', async () => {
    await prepare(
      session,
      `(defgeneric named::chained (x)) (defmethod named::chained ((x integer)) 1)
       (defmethod named::chained ((x real)) (call-next-method)) (defmethod named::chained ((x number)) (call-next-method))
       (defmethod named::chained (x) 4)`,
    );
    const text = await order('chained', '3');
    expect(text.match(/not entered: .*(?=\)$)/gm)).toEqual(
      Array(3).fill('not entered: 1 has no CALL-NEXT-METHOD before it'),
    );
  });

  test.each([
    ['worse', "(make-condition 'named::worse)"],
    ['more', '(named::make-more)'],
    ["'(1 2)", "'(1 2)"],
    ["'()", '()'],
    ['*package*', '*package*'],
  ])('for %s is that of a call', async (argument, form) => {
    const reported = entered(await order('kind', argument)).map((method) =>
      method?.replace(/^\(.*::|\)$/g, ''),
    );
    const names = await session.eval(
      `(let ((*print-right-margin* 10000)) (prin1-to-string (loop for each = (named::kind ${form}) then (cdr each) while (and (consp each) (symbolp (car each)) (find-class (car each) nil)) collect (string (car each)))))`,
    );
    expect(
      `${reported
        .slice(0, -1)
        .map((name) => `\\"${name}\\"`)
        .join(' ')}`,
    ).toBe(names.slice(2, -2));
  });
});
