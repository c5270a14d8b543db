// impact_of_change of what goes away while its tests, and other files of the workspace, are not loaded.

import { beforeAll, expect, test } from 'vitest';
import { Written } from '../callers/written.ts';

const written = new Written();
beforeAll(async () => {
  written.write(
    'depot.asd',
    '(defsystem "depot" :components ((:file "depot")) :in-order-to ((test-op (test-op "depot/tests"))))\n(defsystem "depot/tests" :depends-on ("depot") :components ((:file "depot-tests")))\n(defsystem "depot/wharf" :depends-on ((:version "depot/tests" "0")))\n',
  );
  written.write(
    'depot.lisp',
    '(defpackage :depot (:use :cl))\n(in-package :depot)\n(defvar *crates* 1)\n(defclass crate () ())\n(deftype mass () (quote real))\n',
  );
  written.write(
    'depot-tests.lisp',
    "(defpackage :depot-tests (:use :cl :depot))\n(in-package :depot-tests)\n(assert depot::*crates*)\n(assert (make-instance 'depot::crate))\n",
  );
  written.write('script.lisp', "(in-package :depot)\n(print (typep *crates* 'mass))\n");
  expect(await written.session.text('load_system', { system: 'depot' })).toContain('Loaded system depot');
});

/** Returns the parts on files in the answer on NAME. */
const files = async (name: string) =>
  (await written.session.text('impact_of_change', { name }))
    .split('\n\n')
    .filter((part) => part.includes('not loaded'));

test.each([
  [
    'depot',
    ['Tests that name it, not checked because they are not loaded: depot-tests.lisp:1,3,4', 'script.lisp:1'],
  ],
  [
    'depot::*crates*',
    ['Tests that name it, not checked because they are not loaded: depot-tests.lisp:3', 'script.lisp:2'],
  ],
  ['depot::crate', ['Tests that name it, not checked because they are not loaded: depot-tests.lisp:4']],
  ['depot::mass', ['script.lisp:2']],
])('%s', async (name, expected) => {
  const named = 'Files that name it, not checked because they are not loaded: ';
  expect(await files(name)).toEqual(expected.map((part) => (part.startsWith('T') ? part : named + part)));
});

test('a system', async () => {
  const impact = (name: string) => written.session.text('impact_of_change', { name });
  expect(await impact('depot/tests')).toBe(
    'depot/tests [SYSTEM]\n\nSystems that depend on it (1): depot/wharf (not loaded)',
  );
  expect(await impact('depot/wharf')).toBe(
    'depot/wharf [SYSTEM]\n\nNo system registered with ASDF depends on it.',
  );
});
