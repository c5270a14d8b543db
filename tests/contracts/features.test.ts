// Files are read under the features that the image has at that moment.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FileSession, openWorkspace } from '../files/sessions.ts';

const FILE = `#+sbcl (defun of-sbcl () 1)
#-sbcl (defun of-others () 1)
#+mine (defun of-mine () 1)
`;

let at: FileSession;
beforeAll(async () => {
  at = await openWorkspace();
  at.put('some.lisp', FILE);
});
afterAll(() => at.close());

const outline = () => at.answer('read_definition', { path: 'some.lisp' });

test('already the first call of a server reads a file under those of its image', async () => {
  expect(await outline()).toBe('some.lisp has 1 form that names something:\n\n  1: (defun of-sbcl ())');
});

test('a feature that code adds or removes counts at once, for edits too', async () => {
  const edits = [{ definition: 'of-mine', path: 'some.lisp', text: '(defun of-mine () 2)' }];
  expect(await at.answer('edit_definitions', { edits })).toBe(
    'failed: edits[0]: some.lisp does not define of-mine. read_definition with path tells what it defines.',
  );
  await at.answer('eval_form', { form: '(push :mine *features*)' });
  expect(await outline()).toContain('3: (defun of-mine ())');
  expect(await at.answer('edit_definitions', { edits })).toBe('failed: Tool execution denied by user');
  await at.answer('eval_form', { form: '(setf *features* (remove :mine *features*))' });
  expect(await outline()).not.toContain('of-mine');
});
