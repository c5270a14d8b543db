// Files are read under the features that the image has at that moment.

import { beforeAll, expect, test } from 'vitest';
import { APPROVE, sharedWorkspace } from '../files/sessions.ts';

const FILE = `#+sbcl (defun of-sbcl () 1)
#-sbcl (defun of-others () 1)
#+mine (defun of-mine () 1)
`;

const at = sharedWorkspace();
beforeAll(() => {
  at.put('some.lisp', FILE);
});

const outline = () => at.answer('read_definition', { path: 'some.lisp' });

test('already the first call of a server reads a file under those of its image', async () => {
  expect(await outline()).toBe('some.lisp has 1 form that names something:\n\n  1: (defun of-sbcl ())');
});

test('a feature that code adds or removes counts at once, for edits too', async () => {
  const edits = [{ definition: 'of-mine', path: 'some.lisp', text: '(defun of-mine () 2)' }];
  expect(await at.answer('edit_definitions', { edits })).toBe(
    "failed: edits[0]: #+ or #- excludes the definition of of-mine at some.lisp:3 in this image. To change it, give 'path', 'old' and 'new' without 'definition'.",
  );
  await at.answer('eval_form', { form: '(push :mine *features*)' });
  expect(await outline()).toContain('3: (defun of-mine ())');
  expect(await at.answer('edit_definitions', { edits })).toBe('failed: Tool execution denied by user');
  await at.answer('eval_form', { form: '(setf *features* (remove :mine *features*))' });
  expect(await outline()).not.toContain('of-mine');
});

test('what was loaded is found where it was under the features of then', async () => {
  at.put(
    'flags.lisp',
    '#+later (defun trace-it (x) x)\n(defun one () :one)\n(defvar *mode* 1)\n(defun two () :two)\n',
  );
  await at.answer('load_file', { path: 'flags.lisp' });
  await at.answer('eval_form', { form: '(push :later *features*)' });
  const names = ['one', '*mode*', 'two'];
  expect(await at.answer('read_definition', { names })).toBe(
    [
      'flags.lisp:2  COMMON-LISP-USER::ONE [FUNCTION]\n\n(defun one () :one)',
      'flags.lisp:3  COMMON-LISP-USER::*MODE* [SPECIAL VARIABLE]\n\n(defvar *mode* 1)',
      'flags.lisp:4  COMMON-LISP-USER::TWO [FUNCTION]\n\n(defun two () :two)',
    ].join('\n\n'),
  );
  // After an edit too, and what a part of the file changes is compared with what was loaded.
  at.put(
    'flags.lisp',
    ';; A line more.\n#+later (defun trace-it (x) x)\n(defun one () :one)\n(defvar *mode* 1)\n(defun two () :two)\n',
  );
  expect(await at.answer('read_definition', { name: 'two' })).toBe(
    'flags.lisp:5  COMMON-LISP-USER::TWO [FUNCTION] (as it was loaded; the file changed since, but not this form)\n\n(defun two () :two)',
  );
  await at.answer('load_file', { path: 'flags.lisp' });
  await at.answer('eval_form', { form: '(setf *features* (remove :later *features*))' });
  at.human = () => APPROVE;
  const edits = [{ definition: 'two', old: ':two', new: ':deux' }];
  expect(await at.answer('edit_definitions', { edits, load: true })).toBe(
    'Changed flags.lisp: line 5, +1 −1. It has 3 top-level forms now.\n\nLoaded 1 form of flags.lisp',
  );
});
