// Who is told to be compiled with something as it was before: a macro, an inline function, a constant.

import { describe, expect, test } from 'vitest';
import { compare, FORGET, load, loaded, put, session, withPackageP } from './package-p.ts';

withPackageP();

describe('users of a macro or an inline function that changed', () => {
  test('are told until they are compiled again', async () => {
    const macro = (value: number) => [`(defmacro m () ${value})`, '(defun here () (m))'];
    await loaded('m.lisp', ...macro(1));
    await loaded('users.lisp', '(defun use () (m))', '(defmethod use-too ((x integer)) (m))');
    expect(await load('m.lisp')).toBe('Loaded m.lisp');
    const said =
      'Compiled before the macro P::M changed: P::USE, P::USE-TOO (COMMON-LISP::INTEGER). Load them again.';
    expect(await loaded('m.lisp', ...macro(2))).toBe(`Loaded m.lisp\n\n${said}`);
    expect(await compare('m.lisp')).toBe(said);
    expect(await load('users.lisp')).toBe('Loaded users.lisp');
    expect(await compare('m.lisp')).toBe('The image and m.lisp agree.');
  });

  test('and those of a macro that is a function now, or the other way round', async () => {
    await loaded('m.lisp', '(defmacro m (x) x)', '(defun f (x) x)');
    await loaded('users.lisp', '(defun use () (m 1))', '(defun use-f () (f 1))', '(defun g () 1)');
    expect(await loaded('m.lisp', '(defun m (x) (list x))', '(defmacro f (x) `(list ,x))')).toContain(
      [
        'Compiled before the macro P::F changed: P::USE-F. Load it again.',
        'Compiled before the definition P::M changed: P::USE. Load it again.',
      ].join('\n'),
    );
    expect(await load('users.lisp')).toBe('Loaded users.lisp');
    expect(await compare('m.lisp')).toBe('The image and m.lisp agree.');
  });

  test('and those of a symbol macro, but not what has its name in a string', async () => {
    await loaded('s.lisp', '(defun old () 1)', '(define-symbol-macro here 5)', '(defun same () here)');
    await loaded(
      'users.lisp',
      '(defun use () (list here))',
      '(defmethod use-too ((x integer)) p::here)',
      '(defun other () "here" (list :here-and-there))',
    );
    expect(await loaded('s.lisp', '(define-symbol-macro here 6)', '(defun same () here)')).toBe(
      `Loaded s.lisp\n\nIn the image but no longer in s.lisp: function P::OLD.\n${FORGET}\nCompiled before the symbol macro P::HERE changed: P::USE, P::USE-TOO (COMMON-LISP::INTEGER). Load them again.`,
    );
  });

  test('and those of a constant, when its value has changed', async () => {
    await loaded('c.lisp', '(defconstant +c+ 5)');
    await loaded('users.lisp', '(defun use () (list +c+))');
    expect(await loaded('c.lisp', '(defconstant +c+ 5 "Five.")')).toBe('Loaded c.lisp');
    const changed = "(handler-bind ((error #'continue)) (defconstant +c+ 6))";
    expect(await loaded('c.lisp', changed)).toContain(
      'Compiled before the constant P::+C+ changed: P::USE. Load it again.',
    );
  });

  test('and those that are no functions of a name: macros, types, setf expanders and compiler macros', async () => {
    const helper = (value: number) => [
      `(defmacro m () ${value})`,
      '(declaim (inline i))',
      `(defun i () ${value})`,
    ];
    const users = [
      '(defmacro mine () `(list ,(m) ,(i)))',
      '(deftype small () `(integer 0 ,(i)))',
      '(define-compiler-macro made () (i))',
      '(define-setf-expander place () (values nil nil nil nil (i)))',
      '(define-condition trouble (error) () (:report (lambda (c s) c (print (i) s))))',
    ];
    await loaded('m.lisp', ...helper(1));
    await loaded('users.lisp', '(defun made () 1)', ...users);
    await loaded('types.lisp', '(deftype least () `(integer ,(i)))');
    expect(await loaded('m.lisp', ...helper(2))).toBe(
      `Loaded m.lisp

Compiled before the inline function P::I changed: P::LEAST (type expander), P::MADE (compiler macro), P::MINE, P::PLACE (setf expander), P::SMALL (type expander), P::TROUBLE (condition report). Load them again.
Compiled before the macro P::M changed: P::MINE. Load it again.`,
    );
    expect(await load('users.lisp')).toBe('Loaded users.lisp');
    expect(await load('types.lisp')).toBe('Loaded types.lisp');
    expect(await compare('m.lisp')).toBe('The image and m.lisp agree.');
  });

  test('and what one load makes anew with them is none, whatever it is', async () => {
    const files = (value: number) => ({
      'm.lisp': [`(defmacro m () ${value})`],
      'types.lisp': ['(deftype least () `(integer ,(m)))'],
      'all.lisp': [
        '(load (merge-pathnames "m.lisp" *load-truename*))',
        '(load (merge-pathnames "types.lisp" *load-truename*))',
      ],
    });
    for (const value of [1, 2]) {
      for (const [name, forms] of Object.entries(files(value))) put(name, ...forms);
      expect(await load('all.lisp')).toBe('Loaded all.lisp');
    }
  });
});

describe('users of a structure', () => {
  const point = (slots: string) => [`(defstruct point ${slots})`, '(defun origin () (make-point))'];
  const USERS = [
    '(defun reads (p) (point-x p))',
    '(defun sets (p) (setf (point-y p) 1))',
    '(defun tells (p) (point-p p))',
    "(defun is (p) (typep p 'point))",
    '(defun declared (p) (declare (type point p)) p)',
    '(defmethod prints ((p integer)) (copy-point (origin)))',
    '(defun other (point) (origin) point)',
    '(defun calls (p) (declare (notinline point-x)) (point-x p))',
  ];
  const SAID =
    'Compiled before the structure P::POINT changed: P::DECLARED, P::IS, P::PRINTS (COMMON-LISP::INTEGER), P::READS, P::SETS, P::TELLS. Load them again.';

  test('with other slots are told until they are compiled again', async () => {
    await loaded('s.lisp', ...point('x y'));
    await loaded('users.lisp', ...USERS);
    expect(await load('s.lisp')).toBe('Loaded s.lisp');
    expect(await loaded('s.lisp', ...point('(x 1) (y 2)'))).toBe('Loaded s.lisp');
    put('s.lisp', ...point('w x y'));
    expect(await load('s.lisp')).toContain('CONTINUE');
    expect(await load('s.lisp', { restarts: ['CONTINUE'] })).toContain(SAID);
    expect(await compare('s.lisp')).toBe(SAID);
    expect(await load('users.lisp')).toBe('Loaded users.lisp');
    expect(await compare('s.lisp')).toBe('The image and s.lisp agree.');
  });

  test('with other slots, its instances are told when the load after a failed one succeeds', async () => {
    await loaded('s.lisp', ...point('x y'));
    await loaded('tower.lisp', '(defstruct (tower (:include point)) height)');
    await session.eval('(defparameter p::*points* (list (p::make-point) (p::make-tower)))');
    put('s.lisp', ...point('w x y'));
    expect(await load('s.lisp')).toContain('CONTINUE');
    expect(await load('s.lisp')).toBe(
      "Loaded s.lisp\n\nThe structure P::POINT changed; 2 instances still have the old layout. The structure's functions refuse them. Make them again.",
    );
    expect(await session.eval('(values (ignore-errors (p::point-x (first p::*points*))))')).toBe('NIL');
    expect(await session.eval('(values (ignore-errors (p::point-x (second p::*points*))))')).toBe('NIL');
    await session.eval('(setf p::*points* (list (p::make-point)))');
    expect(await load('s.lisp')).toBe('Loaded s.lisp');
  });

  test('with other slots, its instances are told where its functions look for the slots elsewhere', async () => {
    await loaded('s.lisp', ...point('x y'));
    await session.eval('(defparameter p::*point* (p::make-point :x 1 :y 2))');
    put('s.lisp', ...point('y x'));
    expect(await load('s.lisp', { restarts: ['RECKLESSLY-CONTINUE'] })).toMatch(
      /\n\nThe structure P::POINT changed; 1 instance may still have the old layout\. The structure's functions read slots at the new positions, so on an old instance they return wrong values or corrupt memory\. Make it again\.$/,
    );
    expect(await session.eval('(p::point-x p::*point*)')).toBe('2');
  });
});
