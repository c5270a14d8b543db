// Programs give what they gave, in the image and when they are loaded afresh, after a symbol in them has another name.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { APPROVE, type FileSession, openWorkspace } from '../files/sessions.ts';

let at: FileSession;
beforeAll(async () => {
  at = await openWorkspace();
});
afterAll(() => at.close());
beforeEach(async () => {
  at.human = () => APPROVE;
  await at.answer('eval_form', { form: '(when (find-package :app) (delete-package :app))' });
});

/** Loads CODE as the file of the package APP. */
async function load(code: string): Promise<void> {
  at.put('app.lisp', `(defpackage :app (:use :cl))\n(in-package :app)\n${code}\n`);
  expect(await at.answer('load_file', { path: 'app.lisp' })).not.toContain('failed');
}

/** Returns the code of the file. */
function code(): string {
  return readFileSync(join(at.root, 'app.lisp'), 'utf8').split('\n').slice(2).join('\n').trimEnd();
}

function rename(name: string, to: string, more: object = {}): Promise<string> {
  return at.answer('rename_symbol', { name: `app::${name}`, to, ...more });
}

/** Returns the value of FORM, now and once the file is loaded into a package that has nothing else. */
async function values(form: string): Promise<string[]> {
  const now = await at.answer('eval_form', { form });
  await at.answer('eval_form', { form: '(delete-package :app)' });
  await at.answer('load_file', { path: 'app.lisp' });
  return [now, await at.answer('eval_form', { form })];
}

test('numbers in a radix of their own stay', async () => {
  await load('(defvar *m* (list #xFACE #36rFACE))\n(defun face () (first *m*))');
  await rename('face', 'visage');
  expect(code()).toBe('(defvar *m* (list #xFACE #36rFACE))\n(defun visage () (first *m*))');
  expect(await values('(app::visage)')).toEqual(['64206', '64206']);
});
