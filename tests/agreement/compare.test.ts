// What compare_image tells of evaluations, of other files, of the disk and of systems; and what is told after a loss.

import { rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Session } from '../harness.ts';
import { killImage } from '../recovery/losses.ts';
import { restartedSession } from '../restarted.ts';
import { ownSession, sharedFolder } from '../shared.ts';
import { LISTED } from './package-p.ts';

const root = sharedFolder();
const start = restartedSession({ args: ['--root', root.path] });
let session: Session;
beforeEach(async () => {
  session = await start();
});

function put(name: string, ...forms: string[]): void {
  root.put(name, `${forms.join('\n')}\n`);
}

async function load(path: string, more: object = {}): Promise<string> {
  return (await session.call('load_file', { path, ...more })).text;
}

/** Returns what compare_image says of ARGS, with all times alike. */
async function compare(args: object): Promise<string> {
  const { text } = await session.call('compare_image', { ...args });
  return text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, 'TIME');
}

/** What an answer ends with that lists what was only evaluated. */
const UNDO =
  "(live-lisp:forget 'NAME) removes one from the image, and from the program's lists and hash tables.";
const PACKAGE = '(defpackage "P" (:use "CL")) (in-package "P")';

test('what the forms before an observed one have defined', async () => {
  put('e.lisp', PACKAGE, '(defun inner () 1)');
  await load('e.lisp');
  await session.text('observe', {
    form: '(defvar *beside* 1) (defun beside () 1) (inner)',
    functions: ['inner'],
    package: 'P',
  });
  expect(await compare({ package: 'P' })).toBe(
    [
      'In the image, but not in any loaded file:',
      '  function P::BESIDE, evaluated at TIME by (defun beside () 1)',
      '  variable P::*BESIDE*, evaluated at TIME by (defvar *beside* 1)',
      UNDO,
    ].join('\n'),
  );
});

test('what was evaluated over a file, beside it, and undone', async () => {
  put(
    'e.lisp',
    PACKAGE,
    '(defun inner () 1)',
    '(defun gone () 1)',
    '(defclass k () ())',
    '(defmethod m ((x k)) 1)',
  );
  await load('e.lisp');
  await session.eval('(defun inner () 2)', { package: 'P' });
  await session.eval(
    "(defun extra () 2) (defmethod m ((x k)) 2) (defmethod m ((x string)) 3) (fmakunbound 'gone)",
    {
      package: 'P',
    },
  );
  const over = [
    'Different in the image and in the file:',
    '  function P::GONE of e.lisp:3:1: not in the image',
    '  function P::INNER of e.lisp:2:1: redefined in the image, evaluated at TIME by (defun inner () 2)',
    '  method P::M (P::K) of e.lisp:5:1: redefined in the image, evaluated at TIME by (defmethod m ((x k)) 2)',
  ];
  const beside = [
    'In the image, but not in any loaded file:',
    '  function P::EXTRA, evaluated at TIME by (defun extra () 2)',
    '  method P::M (COMMON-LISP::STRING), evaluated at TIME by (defmethod m ((x string)) 3)',
    UNDO,
  ];
  expect(await compare({ path: 'e.lisp' })).toBe([...beside, ...over].join('\n'));
  expect(await compare({ package: 'p' })).toBe([...beside, ...over].join('\n'));
  await load('e.lisp');
  expect(await compare({ path: 'e.lisp' })).toBe(beside.join('\n'));
});

test('what names nothing to compare', async () => {
  expect(await compare({ path: 'e.lisp', package: 'P' })).toBe(
    'Give exactly one of path, system and package.',
  );
  expect(await compare({ package: 'NOWHERE' })).toBe('Package NOWHERE not found');
});

test('another file that defines the same', async () => {
  put('e.lisp', PACKAGE, '(defun f () 1)');
  put('other.lisp', PACKAGE, '(defun f () 2)');
  await load('e.lisp');
  await load('other.lisp');
  expect(await compare({ path: 'e.lisp' })).toBe(
    'Different in the image and in the file:\n  function P::F of e.lisp:2:1: now that of other.lisp',
  );
  expect(await compare({ path: 'other.lisp' })).toBe('The image and other.lisp agree.');
});

test('which of the methods changed on the disk', async () => {
  put(
    'e.lisp',
    PACKAGE,
    '(defmethod m ((x cons)) 1)',
    '(defmethod m :around ((x cons)) 2)',
    '(defun (setf f) (n x) n x)',
  );
  await load('e.lisp');
  put(
    'e.lisp',
    PACKAGE,
    '(defmethod m ((x symbol) &key) 1)',
    '(defmethod m ((x cons)) 1)',
    '(defmethod m :around ((x cons) &rest more) more)',
    '(defmethod m ((x (eql 3))) 4)',
    '(defun (setf f) (n x) x n)',
  );
  expect(await compare({ path: 'e.lisp' })).toBe(
    [
      'e.lisp changed on the disk since it was loaded; load it again. Changed forms:',
      '  (defmethod m (symbol)): only in the file (e.lisp:2:1)',
      '  (defmethod m :around (cons)): differs (e.lisp:4:1)',
      '  (defmethod m ((eql 3))): only in the file (e.lisp:5:1)',
      '  (defun (setf f)): differs (e.lisp:6:1)',
    ].join('\n'),
  );
});

test('what changed on the disk, form by form, but not how it is laid out', async () => {
  put('e.lisp', PACKAGE, '(defun a () 1)', '(defun b () "x ; y")', '(defun c () 1)');
  await load('e.lisp');
  put(
    'e.lisp',
    PACKAGE,
    '; A comment.',
    '(defun a ()',
    '  #| one |#  1)',
    '(defun b () "x ; z")',
    '(defun d () 1)',
  );
  expect(await compare({ path: 'e.lisp' })).toBe(
    [
      'e.lisp changed on the disk since it was loaded; load it again. Changed forms:',
      '  (defun b): differs (e.lisp:5:1)',
      '  (defun d): only in the file (e.lisp:6:1)',
      '  (defun c): no longer in the file',
    ].join('\n'),
  );
  put('e.lisp', PACKAGE, '(defun a () 1)', '(defun b () "x ; y")', '(defun c () 1) ; done');
  expect(await compare({ path: 'e.lisp' })).toBe('The image and e.lisp agree.');
  put('e.lisp', PACKAGE, '(defun a () 1');
  expect(await compare({ path: 'e.lisp' })).toBe('e.lisp changed on the disk since it was loaded.');
});

test('a system, after a load of what changed in it', async () => {
  put('toy.asd', '(defsystem "toy" :serial t :components ((:file "package") (:file "a") (:file "b")))');
  put('package.lisp', '(defpackage "TOY" (:use "CL"))');
  put('a.lisp', '(in-package "TOY")', '(defun a () 1)', '(defun old () 1)');
  put('b.lisp', '(in-package "TOY")', '(defun b () (a))');
  expect(await session.text('load_system', { system: 'toy' })).toBe('Loaded system toy');
  expect(await compare({ system: 'toy' })).toBe('The image and system toy agree.');
  put('a.lisp', '(in-package "TOY")', '(defun a () 1)');
  const lines = [
    'In the image but no longer in a.lisp: function TOY::OLD.',
    'load_file with forget: true removes what its file no longer has.',
  ];
  expect(await session.text('load_system', { system: 'toy', force: true })).toBe(
    ['Loaded system toy', '', ...lines].join('\n'),
  );
  expect(await compare({ system: '#:TOY' })).toBe(lines.join('\n'));
  rmSync(join(root.path, 'b.lisp'));
  // The answers before have listed what goes.
  await load('a.lisp', { forget: true });
  expect(await compare({ system: 'toy' })).toBe('b.lisp was loaded, but is no longer on the disk.');
});

test('a system whose files are those of its parts', async () => {
  put(
    'parts.asd',
    '(defsystem "parts" :depends-on ("parts/core" (:version "parts/more" "1")))',
    '(defsystem "parts/core" :components ((:file "core")))',
    '(defsystem "parts/more" :version "1.0" :components ((:file "more")))',
  );
  put('core.lisp', '(defpackage "PARTS" (:use "CL"))', '(in-package "PARTS")', '(defun core () 1)');
  put('more.lisp', '(in-package "PARTS")', '(defun more () 1)');
  put(
    'inferred.asd',
    '(defsystem "inferred" :class :package-inferred-system :depends-on ("inferred/sub/all"))',
  );
  put(
    'sub/all.lisp',
    '(defpackage "inferred/sub/all" (:use "CL"))',
    '(in-package "inferred/sub/all")',
    '(defun all () 1)',
  );
  for (const system of ['parts', 'inferred']) {
    expect(await session.text('load_system', { system })).toContain(`Loaded system ${system}, with `);
    expect(await compare({ system })).toBe(`The image and system ${system} agree.`);
  }
  await session.eval('(defun core () 2)', { package: 'PARTS' });
  await session.eval('(defun all () 2)', { package: 'inferred/sub/all' });
  expect(await compare({ system: 'parts' })).toBe(
    'Different in the image and in the file:\n  function PARTS::CORE of core.lisp:3:1: redefined in the image, evaluated at TIME by (defun core () 2)',
  );
  expect(await compare({ system: 'inferred' })).toContain(
    'function inferred/sub/all::ALL of sub/all.lisp:3:1',
  );
  expect(await compare({ system: 'nowhere' })).toBe(
    'Nothing from system nowhere was loaded into this image. Load it first.',
  );
});

test('a system without files of its own names those that it needs', async () => {
  put(
    'gathered.asd',
    '(defsystem "gathered" :depends-on ("gathering" (:version "gathered/none" "1")))',
    '(defsystem "gathering" :components ((:file "gathering")))',
    '(defsystem "gathered/none" :version "1.0")',
  );
  put('gathering.lisp', '(defvar *gathering* 1)');
  expect(await session.text('load_system', { system: 'gathered' })).toContain(
    'Loaded system gathered, with ',
  );
  expect(await compare({ system: 'gathered' })).toBe(
    'The system gathered has no files of its own. Compare the systems that it needs: gathering, gathered/none.',
  );
  expect(await compare({ system: 'gathered/none' })).toBe(
    'The system gathered/none has no files of its own.',
  );
  expect(await compare({ system: 'gathering' })).toBe('The image and system gathering agree.');
});

test('as many as asked for, with how many there are', async () => {
  const names = Array.from({ length: 25 }, (_, n) => `f${n}`);
  put('e.lisp', PACKAGE, ...names.map((name) => `(defun ${name} () 1)`));
  await load('e.lisp');
  put('e.lisp', PACKAGE);
  expect(await load('e.lisp')).toContain(
    '\nMore such definitions: 5.\nload_file with forget: true removes what its file no longer has.\ncompare_image with limit lists the rest.',
  );
  expect(await compare({ path: 'e.lisp' })).toContain('\nNote: a higher limit lists more of each kind.');
  const all = await compare({ path: 'e.lisp', limit: 25 });
  expect(all.match(/P::F\d+/g)).toHaveLength(25);
  expect(all).not.toContain('Note:');
});

test('its data is there for code', async () => {
  put('e.lisp', PACKAGE, '(defun a () 1)', '(defun b () 1)');
  await load('e.lisp');
  put('e.lisp', PACKAGE, '(defun a () 1)');
  await load('e.lisp');
  const form =
    '(values (gethash "name" (first (gethash "old" (live-lisp:call-tool "compare_image" :path "e.lisp")))))';
  expect(await session.eval(form)).toBe('"P::B"');
});

test('what was forgotten stays forgotten in an image that is built again, and what was not is told again', async () => {
  put('e.lisp', PACKAGE, '(defun a () 1)', '(defun b () 1)', '(defun c () 1)');
  await load('e.lisp');
  put('e.lisp', PACKAGE, '(defun a () 1)', '(defun c () 1)');
  await load('e.lisp');
  await load('e.lisp', { forget: true });
  put('e.lisp', PACKAGE, '(defun a () 1)');
  // This lists C and removes nothing, so the next image has C too.
  await load('e.lisp', { forget: true });
  await session.eval('(defun beside () 1)', { package: 'P' });
  await killImage(session);
  expect(await session.eval("(mapcar (lambda (f) (and (fboundp f) t)) '(p::a p::b p::c))")).toBe('(T NIL T)');
  expect(await compare({ path: 'e.lisp' })).toBe(
    [
      'In the image but no longer in e.lisp: function P::C.',
      'load_file with forget: true removes what its file no longer has.',
      'In the image, but not in any loaded file:',
      '  function P::BESIDE, evaluated at TIME by (defun beside () 1)',
      UNDO,
    ].join('\n'),
  );
});

test('a file that loads another beside it loads it from there when its older content is loaded again', async () => {
  put('beside.lisp', PACKAGE, '(defun beside () 1)');
  const head = '(load (merge-pathnames "beside.lisp" *load-truename*))\n(in-package "P")';
  put('e.lisp', head, '(defun a () 1)', '(defun b () 1)');
  await load('e.lisp');
  put('e.lisp', head, '(defun a () 1)');
  await load('e.lisp');
  await killImage(session);
  expect(await session.eval("(mapcar (lambda (f) (and (fboundp f) t)) '(p::a p::b p::beside))")).toBe(
    '(T T T)',
  );
  expect(await compare({ path: 'e.lisp' })).toContain('In the image but no longer in e.lisp: function P::B.');
  put('e.lisp', head, '(defun a () 2)', '(defun unloaded () 2)');
  await killImage(session);
  expect(await session.eval('(list (p::a) (fboundp (quote p::unloaded)) (p::beside))')).toBe('(1 NIL 1)');
});

test('what an answer listed before the image was lost is listed again before it is forgotten', async () => {
  const path = 'listed.lisp';
  put(path, PACKAGE, '(defun a () 1)', '(defun b () 1)');
  await load(path);
  put(path, PACKAGE, '(defun a () 1)');
  const listed = 'In the image but no longer in listed.lisp: function P::B.';
  expect(await load(path)).toContain(listed);
  await killImage(session);
  expect(await load(path, { forget: true })).toContain(`${listed}\n${LISTED.replace('e.lisp', path)}`);
  expect(await load(path, { forget: true })).toContain(
    'Removed, because no longer in the file: function P::B.',
  );
});

test('a method combination and an alien type that the file no longer has are told, and go with forget', async () => {
  const kept = '(defun kept () 1)';
  const combination = '(define-method-combination joined :operator append)';
  const long =
    '(define-method-combination long-one () ((all *)) `(list ,@(mapcar (lambda (m) `(call-method ,m)) all)))';
  put('c.lisp', PACKAGE, kept, combination, long, '(sb-alien:define-alien-type small (integer 16))');
  await load('c.lisp');
  expect(await compare({ path: 'c.lisp' })).toBe('The image and c.lisp agree.');
  put('c.lisp', PACKAGE, kept, combination);
  const old = 'In the image but no longer in c.lisp: alien type P::SMALL; method combination P::LONG-ONE.';
  expect(await load('c.lisp')).toContain(old);
  expect(await compare({ path: 'c.lisp' })).toContain(old);
  await load('c.lisp', { forget: true });
  expect(await compare({ path: 'c.lisp' })).toBe('The image and c.lisp agree.');
  expect(
    await session.eval(
      `(mapcar (lambda (name) (and (gethash name sb-pcl::**method-combinations**) t)) '(p::joined p::long-one))`,
    ),
  ).toBe('(T NIL)');
});

/** Writes FORMS as the file NAME, as if SECONDS ago. */
function putBefore(seconds: number, name: string, ...forms: string[]): void {
  put(name, ...forms);
  const date = Date.now() / 1000 - seconds;
  utimesSync(join(root.path, name), date, date);
}

test('files that were not loaded are told, and only that one as unfinished that was', async () => {
  putBefore(
    100,
    'halves.asd',
    '(defsystem "halves" :serial t :components ((:file "names") (:file "first") (:file "second")))',
  );
  putBefore(100, 'names.lisp', '(defpackage :halves (:use :cl) (:export #:one))');
  putBefore(100, 'first.lisp', '(in-package :halves)', '(defun one () 1)', '(error "No.")');
  putBefore(100, 'second.lisp', '(in-package :halves)', '(defmacro two () 2)');
  expect((await session.call('load_system', { system: 'halves' })).isError).toBe(true);
  expect(await compare({ system: 'halves' })).toBe(
    'The last load of first.lisp failed or was interrupted.\nNot loaded: second.lisp.',
  );
  put('first.lisp', '(in-package :halves)', '(defun one () 1)');
  await session.text('load_system', { system: 'halves', force: true });
  expect(await compare({ system: 'halves' })).toBe('The image and system halves agree.');
});

test('what fails before anything of its file is loaded leaves that file not loaded', async () => {
  put('early.asd', '(defsystem "early" :serial t :components ((:file "early-names") (:file "early")))');
  put('early-names.lisp', '(defpackage :early (:use :cl))');
  put('early.lisp', '(eval-when (:compile-toplevel) (error "Never."))', '(defun one () 1)');
  expect((await session.call('load_system', { system: 'early' })).isError).toBe(true);
  expect(await compare({ system: 'early' })).toBe('Not loaded: early.lisp.');
});

test('a file that was written while it was compiled is compiled again', async () => {
  const head = ['(defpackage :dated (:use :cl))', '(in-package :dated)'];
  putBefore(100, 'dated.asd', '(defsystem "dated" :components ((:file "dated")))');
  putBefore(100, 'dated.lisp', ...head, '(defun said () :before)');
  await session.text('load_system', { system: 'dated' });
  expect(await session.eval('(dated::said)')).toBe(':BEFORE');
  // It is older than the fasl, and no text that was compiled.
  putBefore(50, 'dated.lisp', ...head, '(defun said () :after)');
  const other = await ownSession({ args: ['--root', root.path] });
  await other.text('load_system', { system: 'dated' });
  expect(await other.eval('(dated::said)')).toBe(':AFTER');
});
