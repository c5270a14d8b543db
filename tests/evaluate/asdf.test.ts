// ASDF is there when what is read names it, and not before; scripts that require it are loaded whole.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer, Session } from '../harness.ts';
import { good } from '../harness.ts';
import { restartedSession } from '../restarted.ts';
import { sharedFolder } from '../shared.ts';

const root = sharedFolder();
const restarted = restartedSession({ args: ['--root', root.path] });
let session: Session;

function load(name: string, text: string): Promise<Answer> {
  root.put(name, text);
  return session.call('load_file', { path: name });
}

/** Writes the system tiny, unless it is there: its fasl goes by the date. */
function writeTiny(): void {
  if (existsSync(join(root.path, 'tiny.asd'))) return;
  root.put('tiny.asd', '(asdf:defsystem "tiny" :components ((:file "tiny")))\n');
  root.put('tiny.lisp', '(defpackage :tiny (:use :cl) (:export #:one))\n(defun tiny:one () 1)\n');
}

describe('in an image without it', () => {
  beforeEach(async () => {
    session = await restarted();
  });

  test('a form that names a package of it loads it', async () => {
    expect(await session.eval('(find-package "ASDF")')).toBe('NIL');
    const form = '(stringp (uiop/os:getenv "PATH"))';
    expect(await session.call('eval_form', { form })).toEqual(good('T'));
  });

  test('a form that does not name it does not load it', async () => {
    await session.call('eval_form', { form: '(list :asdf "asdf:x" (quote asdf))' });
    await session.call('eval_form', { form: '(no-such-package:x)' });
    expect(await session.eval('(find-package "ASDF")')).toBe('NIL');
  });

  test('compile_form loads it too', async () => {
    const form = '(defun v () (asdf:asdf-version))';
    expect((await session.call('compile_form', { form })).text).toMatch(
      /^Compiled the form without warnings\./,
    );
  });

  test('a form is read once more, and has run once', async () => {
    await session.call('eval_form', { form: '(defvar *runs* 0)' });
    await session.call('eval_form', { form: '(incf *runs*) (asdf:asdf-version)' });
    expect(await session.eval('*runs*')).toBe('1');
  });

  test('load_file of a script that requires it, and loads a system before it uses that', async () => {
    writeTiny();
    expect(
      await load(
        'script.lisp',
        ';; A script.\n(require :asdf)\n(asdf:load-system "tiny")\n(defvar *one* (tiny:one))\n',
      ),
    ).toEqual(good('Loaded script.lisp'));
    expect(await session.eval('*one*')).toBe('1');
  });

  test('load_file of a file that names the package of UIOP as a keyword', async () => {
    const text =
      '(defpackage :using (:use :cl :uiop))\n(in-package :using)\n(defun path () (getenv "PATH"))\n';
    expect((await load('using.lisp', text)).text).toBe('Loaded using.lisp');
  });
});

describe('in an image that has it', () => {
  beforeAll(async () => {
    session = await restarted();
    expect(await session.eval('(stringp (asdf:asdf-version))')).toBe('T');
  });

  test('another package that is not there is still an error', async () => {
    const { text } = await session.call('eval_form', { form: '(asdf:asdf-version) (nowhere:x)' });
    expect(text).toContain('Error: form 2 cannot be read: Package NOWHERE does not exist.');
  });

  test.each([
    ['an interpreter', '#!/usr/bin/env -S sbcl --script\n(require :asdf)'],
    ['EVAL-WHEN', '(eval-when (:compile-toplevel :load-toplevel :execute) (require :asdf))'],
    ['a feature', '#-asdf (require :asdf)'],
  ])('load_file of a script that begins with %s', async (_, head) => {
    writeTiny();
    const rest = '(asdf:load-system "tiny")\n(princ "once")\n(defun two ()\n  (+ 1 (tiny:one)))\n';
    expect(await load('head.lisp', `${head}\n(progn (asdf:asdf-version) (princ "first"))\n${rest}`)).toEqual(
      good('Loaded head.lisp\n\nOutput:\nfirstonce'),
    );
    expect(await session.eval('(two)')).toBe('2');
    const line = head.split('\n').length + 4;
    expect(await session.text('describe_symbol', { symbol: 'two' })).toContain(
      `Defined: head.lisp:${line}:1`,
    );
    expect(await session.text('compare_image', { path: 'head.lisp' })).toBe('The image and head.lisp agree.');
    expect(await session.text('compare_image', { system: 'tiny' })).toBe('The image and system tiny agree.');
  });

  test('a definition that uses it is compiled with its file, and what only begins as a script stays', async () => {
    const text =
      '(require :asdf)\n(defvar *loads* 0)\n(defun loads () (asdf:asdf-version) (incf *loads*))\n(loads)\n';
    expect((await load('loads.lisp', text)).text).toBe('Loaded loads.lisp');
    expect(await session.eval('*loads*')).toBe('1');
    expect(await session.text('compare_image', { path: 'loads.lisp' })).toBe(
      'The image and loads.lisp agree.',
    );
  });

  test('load_file of a script whose system is not there says so', async () => {
    const { text, isError } = await load(
      'lost.lisp',
      '(require :asdf)\n(asdf:load-system "never-written")\n(never-written:x)\n',
    );
    expect(isError).toBe(true);
    expect(text).toMatch(/^Not loaded: the compilation of lost\.lisp did not finish\./);
    expect(text).toContain('Error: Component "never-written" not found');
  });

  test('load_file of another file runs nothing twice', async () => {
    await load('twice.lisp', '(defvar *twice* 0)\n(incf *twice*)\n(require :asdf)\n');
    expect(await session.eval('*twice*')).toBe('1');
  });
});
