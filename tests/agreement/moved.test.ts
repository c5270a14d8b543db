// That a definition whose object stays the same when another file makes it again belongs to that other file.

import { describe, expect, test } from 'vitest';
import { compare, FORGET, forget, loaded, session, withPackageP } from './package-p.ts';

withPackageP();

describe.each([
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
    'a macro set to an existing one',
    "(setf (macro-function 'moved) (macro-function 'when))",
    "(macro-function 'p::moved)",
    'macro P::MOVED',
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
