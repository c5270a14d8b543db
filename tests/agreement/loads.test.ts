// What an answer says after a load of which definitions the image has and the file has no longer.

import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compare, FORGET, forget, load, loaded, put, root, session, withPackageP } from './package-p.ts';

withPackageP();

describe('what the file has no more', () => {
  test('is nothing when it is loaded again as it was, and before the first load', async () => {
    const forms = [
      '(defvar *a* 1)',
      '(defclass k () ((a :accessor a)))',
      '(defmethod b ((x k)) 1)',
      '(defstruct s x)',
    ];
    expect(await loaded('e.lisp', ...forms)).toBe('Loaded e.lisp');
    expect(await loaded('e.lisp', ...forms)).toBe('Loaded e.lisp');
    expect(await compare('e.lisp')).toBe('The image and e.lisp agree.');
  });

  test('is known also where only evaluation can tell which forms a file has', async () => {
    const feature = "#+#.(cl:if (cl:find-package :sb-ext) '(:and) '(:or))";
    await loaded('e.lisp', `${feature} (defun a () 1)`, '(defun b () 1)');
    expect(await loaded('e.lisp', `${feature} (defun a () 2)`, '(defun b () 2)')).toBe('Loaded e.lisp');
    expect(await compare('e.lisp')).toBe('The image and e.lisp agree.');
    expect(await loaded('e.lisp', `${feature} (defun a () 2)`)).toContain('function P::B');
  });

  test('is none of the accessors that SBCL makes for SLOT-VALUE', async () => {
    const forms = [
      '(defclass item () ((price :initarg :price)))',
      "(defun price-of (i) (slot-value i 'price))",
    ];
    await loaded('e.lisp', ...forms);
    expect(await compare('e.lisp')).toBe('The image and e.lisp agree.');
    expect(await load('e.lisp')).toBe('Loaded e.lisp');
    expect(await load('e.lisp', { forget: true })).toBe('Loaded e.lisp');
    expect(await session.eval("(p::price-of (make-instance 'p::item :price 3))")).toBe('3');
  });

  test('is told until it is gone, again in few words', async () => {
    await loaded('e.lisp', '(defun total () 1)', '(defmacro m () 1)', '(deftype y () t)', '(defsetf g s)');
    const said = [
      'Loaded e.lisp',
      '',
      'In the image but no longer in e.lisp: function P::TOTAL; macro P::M; setf expander P::G; type P::Y.',
      FORGET,
      'SBCL does not record who uses setf expander P::G; type P::Y. search_in_buffer finds their names in files.',
    ].join('\n');
    expect(await loaded('e.lisp', '(defun sum () 1)')).toBe(said);
    expect(await load('e.lisp')).toBe(
      'Loaded e.lisp\n\nStill in the image, not in e.lisp: function P::TOTAL; macro P::M; setf expander P::G; type P::Y.',
    );
    await session.eval("(fmakunbound 'p::total)");
    expect(await load('e.lisp')).toBe(said.replace('function P::TOTAL; ', ''));
  });

  test('is what a macro of the program or a function defined, too', async () => {
    const macro = '(defmacro define-both (a b) `(progn (defun ,a () 1) (defvar ,b 1)))';
    await loaded(
      'e.lisp',
      macro,
      '(define-both one *one*)',
      '(setf (fdefinition (intern "TWO")) (lambda () 2))',
    );
    expect(await loaded('e.lisp', macro)).toBe(
      `Loaded e.lisp\n\nIn the image but no longer in e.lisp: functions P::ONE, P::TWO; variable P::*ONE*.\n${FORGET}`,
    );
  });

  test('is not what features or conditions leave in', async () => {
    await loaded('e.lisp', '(defun a () 1)', '(defun b () 1)');
    const again = ['#+sbcl (defun a () 1)', '(eval-when (:load-toplevel) (let ((n 0)) (defun b () n)))'];
    expect(await loaded('e.lisp', ...again)).toBe('Loaded e.lisp');
    // Whether (when nil …) makes it is not known from its text.
    const less = ['#-sbcl (defun a () 1)', '(when nil (defun b () 1))'];
    expect(await loaded('e.lisp', ...less)).toBe(
      `Loaded e.lisp\n\nIn the image but no longer in e.lisp: function P::A.\n${FORGET}`,
    );
    expect(await loaded('e.lisp', '#-sbcl (defun a () 1)')).toBe(
      `Loaded e.lisp\n\nIn the image but no longer in e.lisp: functions P::A, P::B.\n${FORGET}`,
    );
  });

  test('is not what a form of the file defines only where it is not there', async () => {
    const head = [
      "(defmacro once (name value) `(unless (boundp ',name) (defconstant ,name ,value)))",
      '(eval-when (:compile-toplevel :load-toplevel :execute) (unless (find-package "Q") (defpackage "Q")))',
    ];
    const forms = ['(once +one+ 1)', '(once +two+ 2)', "(unless (fboundp 'f) (defun f () 1))"];
    await loaded('e.lisp', ...head, ...forms);
    expect(await load('e.lisp')).toBe('Loaded e.lisp');
    expect(await loaded('e.lisp', ...head, '(defun new () 1)', ...forms.slice(1))).toBe(
      `Loaded e.lisp\n\nIn the image but no longer in e.lisp: constant P::+ONE+.\n${FORGET}`,
    );
    const other = '(defmacro once (name value) `(list ,name ,value))';
    expect(await loaded('e.lisp', other, ...head.slice(1), '(defun new () 1)', ...forms.slice(1))).toContain(
      'In the image but no longer in e.lisp: constants P::+ONE+, P::+TWO+.',
    );
  });

  test.each([
    [
      "(unless (find-class 'node nil) (eval '(defclass node () ())))",
      "(unless (find-class 'node nil) (eval '(defclass node () (part))))",
    ],
    ['(defun f () 1)', "(unless (fboundp 'f) (defun f () 1))"],
    ['(defvar *once* (progn (defun f () 1) 5))', '(defvar *once* (progn (defun f () 1) 6))'],
  ])('is not what %s made, as it is or edited, but is once that is gone', async (form, edited) => {
    const said = [
      await loaded('e.lisp', '(defun helper () 1)', form),
      await forget('e.lisp'),
      await loaded('e.lisp', '(defun helper () 1)', edited),
      await forget('e.lisp'),
    ];
    expect(said.join('\n')).not.toMatch(/no longer/);
    expect(await loaded('e.lisp', '(defun helper () 1)')).toContain('In the image but no longer in e.lisp: ');
    expect(await load('e.lisp', { forget: true })).toContain('Removed, because no longer in the file: ');
  });

  test('is not what a function that defines each name only once may have made', async () => {
    await loaded(
      'once.lisp',
      '(defvar *made* (make-hash-table))',
      '(defgeneric run (x))',
      `(defun once (name &key loud)
  (declare (ignore loud))
  (unless (shiftf (gethash name *made*) t)
    (eval \`(defun ,name () 1))
    (eval \`(defmethod run ((x (eql ',name))) x))))`,
      `(defun once-all () (mapc #'once (list (intern "FIVE") (intern "SIX"))))`,
    );
    const head = '(load (merge-pathnames "once.lisp" *load-truename*))';
    const rest = ["(mapc #'once '(three four))", '(once-all)', '(defun calls-two () (two))'];
    await loaded('e.lisp', head, "(once 'one)", "(once 'two)", ...rest);
    expect(await load('e.lisp')).toBe('Loaded e.lisp');
    const less = [head, "(once 'one :loud t)", ...rest];
    expect(await loaded('e.lisp', ...less, '(defun beside () 1)')).toBe(
      `Loaded e.lisp\n\nIn the image but no longer in e.lisp: function P::TWO; method P::RUN ((EQL P::TWO)).\n${FORGET}`,
    );
    expect(await load('e.lisp', { forget: true })).toContain('Removed');
    expect(
      await session.eval(
        "(loop for name in '(p::one p::two p::three p::four p::five) collect (and (fboundp name) t))",
      ),
    ).toBe('(T NIL T T T)');
  });

  test('is not what a form that still stands made under other numbers', async () => {
    await session.eval('(defvar cl-user::*made* 0)');
    const macro = `(defmacro clause (&body body)
  (let ((name (intern (format nil "CLAUSE-~A-~D" (first body) (incf cl-user::*made*)))))
    \`(,@(if (rest body) '(defmacro) '(defun)) ,name () ,@body)))`;
    await loaded('e.lisp', macro, '(clause :a)', '(clause :b)', '(clause :c 1)', '(defun told-1 () 1)');
    expect(await load('e.lisp')).toBe('Loaded e.lisp');
    expect(await loaded('e.lisp', macro, '(clause :a)', '(clause :c 1)', '(defun told-2 () 1)')).toMatch(
      /^Loaded e.lisp\n\nIn the image but no longer in e.lisp: functions P::CLAUSE-B-\d, P::TOLD-1.\n/,
    );
  });

  test('is bounded, with how many there are', async () => {
    const many = Array.from({ length: 300 }, (_, n) => `(defun f${String(n).padStart(3, '0')} () 1)`);
    await loaded('e.lisp', ...many);
    const first = Array.from({ length: 20 }, (_, n) => `P::F${String(n).padStart(3, '0')}`);
    expect(await loaded('e.lisp', '')).toBe(
      `Loaded e.lisp\n\nIn the image but no longer in e.lisp: functions ${first.join(', ')}.\nMore such definitions: 280.\n${FORGET}\ncompare_image with limit lists the rest.`,
    );
    const listed = Array.from({ length: 200 }, (_, n) => `P::F${String(n + 20).padStart(3, '0')}`);
    const more =
      'No definition of e.lisp was removed, because not all these definitions have been listed yet. To list more of them, repeat load_file with forget: true.';
    expect(await load('e.lisp', { forget: true })).toBe(
      `Loaded e.lisp\n\nIn the image but no longer in e.lisp: functions ${listed.join(', ')}.\nMore such definitions: 100.\n${more}\ncompare_image with limit lists the rest.`,
    );
    expect(await load('e.lisp', { forget: true })).toContain(`e.lisp: functions P::F220, P::F221,`);
    expect(await session.eval("(count-if #'fboundp (list 'p::f000 'p::f150 'p::f299))")).toBe('3');
    expect(await load('e.lisp', { forget: true })).toBe(
      `Loaded e.lisp\n\nRemoved, because no longer in the file: functions ${Array.from({ length: 200 }, (_, n) => `P::F${String(n).padStart(3, '0')}`).join(', ')} and 100 more.`,
    );
    expect(await session.eval("(count-if #'fboundp (list 'p::f000 'p::f150 'p::f299))")).toBe('0');
  });

  test('is an export that the package does not name any more', async () => {
    put('p.lisp', '(defpackage "P" (:use "CL") (:export "A" "B"))');
    await load('p.lisp');
    put('p.lisp', '(defpackage "P" (:use "CL") (:export "A"))');
    expect(await load('p.lisp')).toContain(
      `In the image but no longer in p.lisp: export P::B of P.\n${FORGET}`,
    );
    await load('p.lisp', { forget: true });
    expect(
      await session.eval('(values (nth-value 1 (find-symbol "A" "P")) (nth-value 1 (find-symbol "B" "P")))'),
    ).toBe(':EXTERNAL\n:INTERNAL');
    expect(await load('p.lisp')).toBe('Loaded p.lisp');
  });

  const both = '(defmacro define-both (name) `(progn (defun ,name () 1) (defvar ,name 1)))';
  test('is an export of a symbol that a new form in another package defines', async () => {
    const file = (exports: string, ...forms: string[]) =>
      [`(defpackage "Q" (:use "CL")${exports})`, '(in-package "Q")', both, ...forms].join('\n');
    root.put('q.lisp', file(' (:export "F" "BOTH")'));
    await load('q.lisp');
    root.put('q.lisp', file('', '(in-package "CL-USER")', '(q::define-both q::both)'));
    expect(await load('q.lisp')).toContain(
      `In the image but no longer in q.lisp: exports Q::BOTH of Q, Q::F of Q.\n${FORGET}`,
    );
    expect(await load('q.lisp', { forget: true })).toContain(
      'Removed, because no longer in the file: exports Q::BOTH of Q, Q::F of Q.',
    );
  });

  test('is no export of a package that a function makes only once', async () => {
    const head =
      '(defun once (name &rest more) (unless (find-package name) (eval `(defpackage ,name ,@more))))';
    const once = "(once 'q '(:use) '(:export a))";
    await loaded('e.lisp', head, '(defpackage "Q" (:use) (:export "A"))');
    expect(await loaded('e.lisp', head, once)).toBe('Loaded e.lisp');
    expect(await loaded('e.lisp', head, once, '(defun f () 1)')).toBe('Loaded e.lisp');
    expect(await loaded('e.lisp', head, '(defun f () 1)')).toBe(
      `Loaded e.lisp\n\nIn the image but no longer in e.lisp: export Q::A of Q; package Q.\n${FORGET}`,
    );
    await load('e.lisp', { forget: true });
  });

  test('is no export that a call of EXPORT makes', async () => {
    const loads = ['p.lisp', 'e.lisp'].map((name) => `(load (merge-pathnames "${name}" *load-truename*))`);
    put('main.lisp', ...loads);
    put('e.lisp', '(in-package "P")', '(defun a () 1)');
    put('p.lisp', '(defpackage "P" (:use "CL") (:export "A" "B"))');
    await load('main.lisp');
    put('p.lisp', '(defpackage "P" (:use "CL"))');
    put('e.lisp', '(in-package "P")', '(defun a () 1)', "(export 'a)");
    expect(await load('main.lisp')).toContain('in p.lisp: export P::B of P.');
    expect(await load('p.lisp', { forget: true })).toContain(
      'Removed, because no longer in the file: export P::B of P.',
    );
    expect(await session.eval('(nth-value 1 (find-symbol "A" "P"))')).toBe(':EXTERNAL');
  });
});

describe('what another file or a load that failed says nothing about', () => {
  test('a function that moved to another file', async () => {
    await loaded('e.lisp', '(defun a () 1)', '(defun moved () 1)');
    await loaded('other.lisp', '(defun moved () 2)');
    expect(await loaded('e.lisp', '(defun a () 1)')).toBe('Loaded e.lisp');
    expect(await compare('e.lisp')).toBe('The image and e.lisp agree.');
    await load('e.lisp', { forget: true });
    expect(await session.eval('(p::moved)')).toBe('2');
  });

  test('what comes behind the form that failed', async () => {
    await loaded('e.lisp', '(defun a () 1)', '(defun gone () 1)', '(defun z () 1)');
    expect(await loaded('e.lisp', '(defun a () 2)', '(error "No.")', '(defun z () 2)')).not.toContain(
      'no longer',
    );
    expect(await compare('e.lisp')).toContain('The last load of e.lisp failed or was interrupted.');
    expect(await loaded('e.lisp', '(defun a () 3)', '(defun z () 3)')).toBe(
      `Loaded e.lisp\n\nIn the image but no longer in e.lisp: function P::GONE.\n${FORGET}`,
    );
  });

  test('a file that code of the program loads', async () => {
    await loaded('part.lisp', '(defun part () 1)');
    put('e.lisp', `(load ${JSON.stringify(join(root.path, 'part.lisp'))})`, '(defun whole () 1)');
    expect(await load('e.lisp')).toBe('Loaded e.lisp');
    expect(await loaded('e.lisp', '(defun whole () 1)')).toBe('Loaded e.lisp');
    put('part.lisp', '');
    await session.eval(`(load ${JSON.stringify(join(root.path, 'part.lisp'))})`);
    expect(await session.eval('(p::part)')).toBe('1');
  });
});

describe('what was defined and counts no more', () => {
  test('is a method for the same arguments in the same file', async () => {
    expect(
      await loaded(
        'e.lisp',
        '(defmethod area ((x integer)) 1)',
        '(defun f () 1)',
        '(defmethod area ((y integer)) 2)',
      ),
    ).toBe(
      'Loaded e.lisp\n\nDefined twice in this load; the later one counts: method P::AREA (COMMON-LISP::INTEGER) at e.lisp:4:1, before at e.lisp:2:1.',
    );
  });

  test('is no method with other qualifiers, or of another file', async () => {
    await loaded('other.lisp', '(defmethod area ((x integer)) 1)');
    expect(
      await loaded('e.lisp', '(defmethod area :before ((x integer)) 1)', '(defmethod area ((x string)) 1)'),
    ).toBe('Loaded e.lisp');
  });
});

test('a file that became a FIFO or very large since is not read for a comparison', async () => {
  await loaded('e.lisp', '(defun f () 1)');
  await loaded('large.lisp', '(defun g () 1)');
  rmSync(join(root.path, 'e.lisp'));
  execFileSync('mkfifo', [join(root.path, 'e.lisp')]);
  truncateSync(join(root.path, 'large.lisp'), 2 ** 40);
  expect(await session.text('compare_image', { package: 'p' })).toBe(
    ['e.lisp', 'large.lisp']
      .map(
        (name) =>
          `${name} cannot be read now, or is over 4 MB, so it was not compared with the loaded code; read_file reports why.`,
      )
      .join('\n'),
  );
  for (const name of ['e.lisp', 'large.lisp']) rmSync(join(root.path, name));
});

test('a file that is gone is nothing to compare with', async () => {
  await loaded('gone.lisp', '(defun a () 1)');
  const path = join(root.path, 'gone.lisp');
  rmSync(path);
  expect(existsSync(path)).toBe(false);
  expect(await compare('gone.lisp')).toBe(`There is no file ${path}. Relative paths start at ${root.path}.`);
  expect(await session.text('compare_image', { package: 'P' })).toBe(
    'gone.lisp was loaded, but is no longer on the disk.',
  );
});
