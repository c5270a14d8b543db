// What is told of a system that was loaded in part, and that a fasl of an older text is not taken for the file.

import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Session, temporaryFolder } from '../harness.ts';
import { sessions } from '../recovery/losses.ts';

let root: ReturnType<typeof temporaryFolder>;
let session: Session;
const start = sessions();
beforeEach(async () => {
  root = temporaryFolder();
  session = await start({ args: ['--root', root.path] });
});
afterEach(() => root.remove());

/** Writes the file NAME, as if SECONDS ago. */
function put(name: string, text: string, seconds = 100): void {
  const path = join(root.path, name);
  writeFileSync(path, text);
  const date = Date.now() / 1000 - seconds;
  utimesSync(path, date, date);
}

test('files that were not loaded are told, and only that one as unfinished that was', async () => {
  put(
    'halves.asd',
    '(defsystem "halves" :serial t :components ((:file "names") (:file "first") (:file "second")))',
  );
  put('names.lisp', '(defpackage :halves (:use :cl) (:export #:one))');
  put('first.lisp', '(in-package :halves)\n(defun one () 1)\n(error "No.")');
  put('second.lisp', '(in-package :halves)\n(defmacro two () 2)');
  expect((await session.call('load_system', { system: 'halves' })).isError).toBe(true);
  const { text } = await session.call('compare_image', { system: 'halves' });
  expect(text).toBe('The last load of first.lisp did not end well.\nNot loaded: second.lisp.');
  rmSync(join(root.path, 'first.lisp'));
  put('first.lisp', '(in-package :halves)\n(defun one () 1)', 0);
  await session.text('load_system', { system: 'halves', force: true });
  expect(await session.text('compare_image', { system: 'halves' })).toBe(
    'The image and system halves agree.',
  );
});

test('what fails before anything of its file is loaded leaves that file not loaded', async () => {
  put('early.asd', '(defsystem "early" :serial t :components ((:file "names") (:file "code")))');
  put('names.lisp', '(defpackage :early (:use :cl))');
  put('code.lisp', '(in-package :early)\n(eval-when (:compile-toplevel) (error "Never."))\n(defun one () 1)');
  expect((await session.call('load_system', { system: 'early' })).isError).toBe(true);
  expect(await session.text('compare_image', { system: 'early' })).toBe('Not loaded: code.lisp.');
});

test('a file that was written while it was compiled is compiled again', async () => {
  put('dated.asd', '(defsystem "dated" :components ((:file "dated")))');
  put('dated.lisp', '(defpackage :dated (:use :cl))\n(in-package :dated)\n(defun said () :before)');
  await session.text('load_system', { system: 'dated' });
  expect(await session.eval('(dated::said)')).toBe(':BEFORE');
  // It is older than the fasl, and no text that was compiled.
  put('dated.lisp', '(defpackage :dated (:use :cl))\n(in-package :dated)\n(defun said () :after)', 50);
  const other = await start({ args: ['--root', root.path] });
  await other.text('load_system', { system: 'dated' });
  expect(await other.eval('(dated::said)')).toBe(':AFTER');
});

test('what was edited in the second in which it was compiled is loaded, and fits in another image too', async () => {
  put('quick.asd', '(defsystem "quick" :serial t :components ((:file "one") (:file "two")))');
  put('one.lisp', '(defpackage :quick (:use :cl))\n(in-package :quick)\n(defstruct part a)');
  put('two.lisp', '(in-package :quick)\n(defun made () (part-a (make-part :a 1)))');
  await session.text('load_system', { system: 'quick' });
  put('one.lisp', '(defpackage :quick (:use :cl))\n(in-package :quick)\n(defstruct part b a)', 0);
  const { text, isError } = await session.call('load_system', { system: 'quick', restarts: ['CONTINUE'] });
  expect(isError, text).toBe(false);
  expect(text).toContain('Took the restart CONTINUE: attempt to redefine');
  expect(await session.eval('(quick::made)')).toBe('1');
  const other = await start({ args: ['--root', root.path] });
  expect((await other.call('load_system', { system: 'quick' })).isError).toBe(false);
  expect(await other.eval('(quick::made)')).toBe('1');
});
