// Files that name packages which exist only once the forms before are loaded: LOAD of a source loads them.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';

let root: ReturnType<typeof temporaryFolder>;
let session: Session;
beforeAll(async () => {
  root = temporaryFolder();
  session = await startSession({ args: ['--root', root.path, '--allow', 'restart_image'] });
  mkdirSync(join(root.path, 'courier'));
  put('courier/courier.asd', '(defsystem "courier" :components ((:file "code")))');
  put(
    'courier/code.lisp',
    '(defpackage "COURIER" (:use "CL") (:export "START" "WITH-COURIER"))',
    '(in-package "COURIER")',
    '(defun start () :started)',
    '(defmacro with-courier (&body body) `(list ,@body))',
  );
});
afterAll(async () => {
  await session.close();
  root.remove();
});
beforeEach(async () => {
  await session.call('restart_image', { rebuild: 'none' });
});

function put(name: string, ...forms: string[]): void {
  root.put(name, `${forms.join('\n')}\n`);
}

async function loaded(...forms: string[]): Promise<string> {
  put('load.lisp', ...forms);
  return (await session.call('load_file', { path: 'load.lisp' })).text;
}

const FILE = '(merge-pathnames "courier/code.lisp" *load-truename*)';
const USE = '(defvar cl-user::*result* (courier:with-courier (courier:start)))';

describe('a file is loaded that names a package which', () => {
  test.each([
    [
      'a system makes',
      '(require :asdf)',
      '(defvar *here* *load-truename*)',
      '(push (merge-pathnames "courier/" (make-pathname :name nil :type nil :defaults *here*)) asdf:*central-registry*)',
      '(when *here* (asdf:load-system "courier"))',
    ],
    ['another file makes', '#+(or sbcl ccl)', `(unless (find-package "COURIER") (load ${FILE}))`],
    ['a function of the file makes', `(defun get-it () (load ${FILE}))`, '(get-it)'],
  ])('%s', async (_, ...forms) => {
    // ASDF can replace itself by a newer one here, whose classes have other slots.
    expect(await loaded(...forms, USE)).toMatch(
      /^Loaded load\.lisp(\n\nClasses whose slots changed: ASDF|$)/,
    );
    expect(await session.eval('*result*')).toBe('(:STARTED)');
    expect(await loaded(...forms, USE)).toBe('Loaded load.lisp');
  });

  test('its own form makes, with forms of all reader macros, which run once', async () => {
    await session.eval(`(progn
      (set-macro-character #\\[ (lambda (stream char) (declare (ignore char)) (read-delimited-list #\\] stream t)))
      (set-macro-character #\\] (get-macro-character #\\)))
      (set-dispatch-macro-character #\\# #\\? (lambda (stream char number) (declare (ignore char number)) (read stream t nil t))))`);
    const forms = [
      '(defvar *ran* (list))',
      "#.'(push :evaluated *ran*)",
      '#+sbcl (push :featured *ran*)',
      '#-sbcl (push :left-out *ran*)',
      '[push :own *ran*] ; (push :comment *ran*)',
      '#| (push :comment *ran*) |#',
      '(make-package "LATE")',
      "#+sbcl (push 'late::symbol *ran*)",
      '#?(push :dispatched *ran*)',
      '(make-package "LATER")',
      "#.'(push 'later::symbol *ran*)",
    ];
    expect(await loaded(...forms)).toBe('Loaded load.lisp');
    expect(await session.eval('(reverse *ran*)')).toBe(
      '(:EVALUATED :FEATURED :OWN LATE::SYMBOL :DISPATCHED LATER::SYMBOL)',
    );
  });

  test('its own MAKE-PACKAGE makes, and then another does', async () => {
    const forms = [
      '(unless (find-package "MADE") (make-package "MADE" :use (list "CL")))',
      '(in-package "MADE")',
      '(declaim (optimize (debug 3)))',
      '(defparameter *runs* 0)',
      '(incf *runs*)',
      `(load ${FILE})`,
      '(defun made () (courier:start))',
      '(defpackage "FURTHER" (:use "CL" "COURIER"))',
      '(in-package "FURTHER")',
      '(defun further () (with-courier (start) (made::made)))',
    ];
    expect(await loaded(...forms)).toBe('Loaded load.lisp');
    expect(await session.eval('(list made::*runs* (further::further))')).toBe('(1 (:STARTED :STARTED))');
    expect(await session.text('who_calls', { name: 'courier:start', sites: true })).toContain(
      'MADE::MADE\n    load.lisp:7:16',
    );
    expect(await loaded(...forms)).toBe('Loaded load.lisp');
    expect(await loaded(...forms.slice(0, 9))).toContain(
      'no longer in load.lisp: function FURTHER::FURTHER.\n',
    );
    expect((await session.call('compare_image', { path: 'courier/code.lisp' })).text).toBe(
      'The image and courier/code.lisp agree.',
    );
  });
});

test('warnings of such a file are told once', async () => {
  expect(await loaded('(defun first-one (x) (nowhere-defined x))', `(load ${FILE})`, USE)).toBe(
    `Loaded load.lisp

Warnings (1):
  load.lisp
    STYLE-WARNING (line 1:22, DEFUN FIRST-ONE): undefined function: COMMON-LISP-USER::NOWHERE-DEFINED
      in (COMMON-LISP-USER::NOWHERE-DEFINED COMMON-LISP-USER::X)`,
  );
});

test('what no form before makes ends the load there, and a rebuilt image has the forms before', async () => {
  const said = `load.lisp was loaded only up to the form where loading stopped.

Warnings (1):
  load.lisp
    ERROR: cannot be read: Package NOWHERE does not exist. (reading stopped at line 3)

Output:
:HELLO`;
  expect(await loaded('(defun before () 1)', '(print :hello)', '(defun bad () (nowhere:foo))')).toBe(said);
  expect(await session.text('compare_image', { path: 'load.lisp' })).toBe(
    'The last load of load.lisp failed or was interrupted.',
  );
  await session.call('restart_image', { rebuild: 'session' });
  expect(await session.eval('(before)')).toBe('1');
});

test('nothing is loaded where no form before runs code', async () => {
  const text = await loaded('(defun before () 1)', '(defun bad () (nowhere:foo))', '(print :hello)');
  expect(
    text,
  ).toBe(`Not loaded: load.lisp could not be compiled. Its compile-time effects (packages, macros) may be in the image.

Warnings (1):
  load.lisp
    ERROR: cannot be read: Package NOWHERE does not exist. (reading stopped at line 2)`);
  expect(await session.eval("(fboundp 'before)")).toContain('NIL');
});
