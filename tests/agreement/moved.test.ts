// That a definition whose object stays the same when another file makes it again belongs to that other file.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LONG, PATIENCE_MS } from '../long.ts';
import { compare, FORGET, forget, load, loaded, put, session, withPackageP } from './package-p.ts';

withPackageP();

describe.each([
  [
    'a package without exports',
    '(defpackage "MOVED" (:use "CL"))',
    '(find-package "MOVED")',
    'package MOVED',
  ],
  [
    'a package with an export',
    '(defpackage "MOVED" (:use "CL") (:export "NAME"))',
    '(and (find-package "MOVED") (find-symbol "NAME" "MOVED"))',
    'package MOVED',
  ],
  [
    'a function set to an existing one',
    "(setf (fdefinition 'moved) #'car)",
    "(fboundp 'p::moved)",
    'function P::MOVED',
  ],
  [
    'a SETF function set to an existing one',
    "(setf (fdefinition '(setf moved)) #'cons)",
    "(fboundp '(setf p::moved))",
    'function (SETF P::MOVED)',
  ],
  [
    'a macro set to an existing one',
    "(setf (macro-function 'moved) (macro-function 'when))",
    "(macro-function 'p::moved)",
    'macro P::MOVED',
  ],
  [
    'a compiler macro set to an existing one',
    "(setf (compiler-macro-function 'moved) (macro-function 'when))",
    "(compiler-macro-function 'p::moved)",
    'compiler macro P::MOVED',
  ],
  [
    'a structure with a list type, whose copier is a function of SBCL',
    '(defstruct (moved (:type list)) part)',
    "(fboundp 'p::copy-moved)",
    'structure P::MOVED',
  ],
])('%s', (_, form, present, item) => {
  test('belongs to the file to which it moved', async () => {
    await loaded('e.lisp', form, '(defun other () 1)');
    await loaded('other.lisp', form);
    expect(await loaded('e.lisp', '(defun other () 1)')).toBe('Loaded e.lisp');
    expect(await compare('e.lisp')).toBe('The image and e.lisp agree.');
    await forget('e.lisp');
    expect(await session.eval(`(not (null ${present}))`)).toBe('T');
    // The file that has it now can lose it too.
    const lost = await loaded('other.lisp');
    expect(lost).toContain('In the image but no longer in other.lisp: ');
    expect(lost).toContain(item);
    expect(lost).toContain(FORGET);
    await forget('other.lisp');
    expect(await session.eval(`(not (null ${present}))`)).toBe('NIL');
  });

  test('is of no file once a form makes it again', async () => {
    await loaded('e.lisp', form);
    await session.eval(`(progn (in-package "P") ${form} (in-package "CL-USER"))`);
    await forget('e.lisp');
    expect(await session.eval(`(not (null ${present}))`)).toBe('T');
  });
});

/** Forms that each make something under NAME. */
const FORMS: ((name: string) => string)[] = [
  (name) => `(defun ${name} ())`,
  (name) => `(setf (fdefinition '${name}) #'car)`,
  (name) => `(setf (macro-function '${name}) (macro-function 'when))`,
  (name) => `(eval '(defun ${name} ()))`,
  (name) => `(defstruct (${name} (:type list)) part)`,
  (name) => `(defclass ${name} () ((part :accessor ${name}-part)))`,
  (name) => `(defmethod common ((x (eql '${name}))) x)`,
  (name) => `(defpackage "${name.toUpperCase()}")`,
];

/** A form whose value lists what the names of NUMBERS are in the image. */
const present = (numbers: number[]) =>
  `(list ${numbers
    .map(
      (n) => `(cond ((or (fboundp 'p::of${n}) (find-class 'p::of${n} nil) (find-package "OF${n}")
  (sb-int:info :typed-structure :info 'p::of${n})
  (find-method #'p::common '() (list (sb-mop:intern-eql-specializer 'p::of${n})) nil)) ${n}) (t -1))`,
    )
    .join(' ')})`;

test(
  'random moves between files leave what some file has, and nothing else',
  async () => {
    const numbers = FORMS.map((_, n) => n);
    const step = fc.record({ file: fc.nat({ max: 2 }), has: fc.subarray(numbers) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
        await session.call('restart_image', { rebuild: 'none' });
        put('p.lisp', '(defpackage "P" (:use "CL"))', '(in-package "P")', '(defgeneric common (x))');
        await load('p.lisp');
        const texts = new Map<number, number[]>();
        const said: string[] = [];
        const settle = async (file: number) => {
          said.push(
            await load(`f${file}.lisp`, { forget: true }),
            await load(`f${file}.lisp`, { forget: true }),
          );
        };
        for (const { file, has } of steps) {
          put(`f${file}.lisp`, ...has.map((n) => FORMS[n]?.(`of${n}`) ?? ''));
          texts.set(file, has);
          await settle(file);
          const now = await session.eval(present(numbers));
          for (const n of [...texts.values()].flat())
            expect(now, `${JSON.stringify(steps)}\n${said.join('\n')}`).toMatch(new RegExp(`\\b${n}\\b`));
        }
        for (const file of texts.keys()) await settle(file);
        const wanted = numbers.map((n) => ([...texts.values()].flat().includes(n) ? n : -1));
        expect(await session.eval(present(numbers)), `${JSON.stringify(steps)}\n${said.join('\n')}`).toBe(
          `(${wanted.join(' ')})`,
        );
      }),
      { numRuns: LONG ? 200 : 1, endOnFailure: true },
    );
  },
  PATIENCE_MS,
);
