// ASDF is there when what is read names it, and not before; scripts that require it are loaded whole.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { type Answer, type Session, startSession, temporaryFolder } from '../harness.ts';

const root = temporaryFolder();
let session: Session;
beforeEach(async () => {
  session = await startSession({ args: ['--root', root.path] });
});
afterEach(() => session.close());
afterAll(() => root.remove());

function load(name: string, text: string): Promise<Answer> {
  writeFileSync(join(root.path, name), text);
  return session.call('load_file', { path: name });
}

test.each(['(stringp (asdf:asdf-version))', '(stringp (uiop:getenv "PATH"))'])(
  '%s loads it',
  async (form) => {
    expect(await session.eval('(find-package "ASDF")')).toBe('NIL');
    expect(await session.call('eval_form', { form })).toEqual({ text: 'T', notices: [], isError: false });
  },
);

test('a form that does not name it does not load it', async () => {
  await session.call('eval_form', { form: '(list :asdf "asdf:x" (quote asdf))' });
  await session.call('eval_form', { form: '(no-such-package:x)' });
  expect(await session.eval('(find-package "ASDF")')).toBe('NIL');
});

test('another package that is not there is still an error', async () => {
  const { text } = await session.call('eval_form', { form: '(asdf:asdf-version) (nowhere:x)' });
  expect(text).toContain('Error: form 2 cannot be read: Package NOWHERE does not exist.');
});

test('compile_form loads it too', async () => {
  const form = '(defun v () (asdf:asdf-version))';
  expect((await session.call('compile_form', { form })).text).toMatch(
    /^Compiled the form without warnings\./,
  );
});

test('macroexpand_form loads it too', async () => {
  const { text } = await session.call('macroexpand_form', { form: '(uiop:nest (list) 1)' });
  expect(text).toMatch(/^\(LIST 1\)/);
});

test('a form is read once more, and has run once', async () => {
  await session.call('eval_form', { form: '(defvar *runs* 0)' });
  await session.call('eval_form', { form: '(incf *runs*) (asdf:asdf-version)' });
  expect(await session.eval('*runs*')).toBe('1');
});

test('load_file of a file that names it', async () => {
  expect(await load('names.lisp', '(defun version () (asdf:asdf-version))\n')).toEqual({
    text: 'Loaded names.lisp',
    notices: [],
    isError: false,
  });
  expect(await session.eval('(stringp (version))')).toBe('T');
});

test('load_file of a script that requires it, and loads a system before it uses that', async () => {
  writeFileSync(join(root.path, 'tiny.asd'), '(asdf:defsystem "tiny" :components ((:file "tiny")))\n');
  writeFileSync(
    join(root.path, 'tiny.lisp'),
    '(defpackage :tiny (:use :cl) (:export #:one))\n(defun tiny:one () 1)\n',
  );
  expect(
    await load(
      'script.lisp',
      ';; A script.\n(require :asdf)\n(asdf:load-system "tiny")\n(defvar *one* (tiny:one))\n',
    ),
  ).toEqual({ text: 'Loaded script.lisp', notices: [], isError: false });
  expect(await session.eval('*one*')).toBe('1');
});

test('load_file of a script whose system is not there says so', async () => {
  const { text, isError } = await load(
    'lost.lisp',
    '(require :asdf)\n(asdf:load-system "never-written")\n(never-written:x)\n',
  );
  expect(isError).toBe(true);
  expect(text).toMatch(/^Not loaded: the compilation of lost\.lisp was left early\./);
  expect(text).toContain('Error: Component "never-written" not found');
});

test('load_file of another file runs nothing twice', async () => {
  await load('twice.lisp', '(defvar *twice* 0)\n(incf *twice*)\n(require :asdf)\n');
  expect(await session.eval('*twice*')).toBe('1');
});
