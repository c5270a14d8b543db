// Calls in a fresh image: what a first build shows and the running image hides, what differs, and that nothing of it
// stays.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { bad, good, NO_SYSTEMS, type Session, testSbcl } from '../harness.ts';
import { sandboxTest } from '../sandbox/namespaces.ts';
import { gone, imagesOf, until } from '../server/processes.ts';
import { ownFolder, ownSession, sharedFolder, sharedSession } from '../shared.ts';
import { servingPlace, startServing } from './served.ts';

const SYSTEM = '(defsystem "shop" :serial t :components ((:file "package") (:file "kinds") (:file "shop")))';
const FILES = {
  'shop.asd': `${SYSTEM}
(defsystem "shop/tests" :depends-on ("shop" "sb-rt") :components ((:file "tests"))
  :perform (test-op (o c) (uiop:symbol-call :sb-rt :do-tests)))`,
  'package.lisp': '(defpackage shop (:use cl))',
  'kinds.lisp': `(in-package shop)
(defvar *kinds* '())
(defmacro define-kind (name) (push name *kinds*) \`',name)`,
  'shop.lisp': `(in-package shop)
(define-kind :tea)
(defvar *rate* 5)
(defclass square () ())
(defgeneric area (shape))
(defmethod area ((shape square)) 1)
(defun total (list) (let ((unused 1)) (reduce #'+ list)))`,
  'tests.lisp': `(in-package shop)
(sb-rt:deftest kinds *kinds* (:tea))
(sb-rt:deftest rate *rate* 5)`,
};

const UNUSED = `Warnings (1):
  shop.lisp
    STYLE-WARNING (line 7:27, DEFUN TOTAL): The variable UNUSED is defined but never used.
      in (SHOP::UNUSED 1)`;

function put(root: { put: (path: string, text: string) => unknown }, files: Record<string, string> = FILES) {
  for (const [name, text] of Object.entries(files)) root.put(name, text);
}

/** Returns the images of the server of SESSION, and the folders that it has for its calls. */
function remains(session: Session) {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(`live-lisp-${session.pid}-`));
  return { images: imagesOf(session.pid).length, folders };
}
const ONE_IMAGE = { images: 1, folders: [] };

/** Returns TEXT without its seconds. */
const untimed = (text: string) => text.replace(/\d+\.\d s\)/g, 'N s)');

describe('beside an image whose code was changed', () => {
  const root = sharedFolder();
  put(root);
  const session = sharedSession({
    args: ['--root', root.path, '--no-sandbox'],
    env: { ASDF_OUTPUT_TRANSLATIONS: `/:${root.path}/cache/` },
  });
  const DIFFERENCES = [
    'The running image differs:',
    '  Only in it: function SHOP::EXTRA; method SHOP::AREA (COMMON-LISP::STRING); variable SHOP::*OLD*.',
    '  Other values: SHOP::*RATE* is 7 in it, 5 in the fresh image.',
  ];
  beforeAll(async () => {
    await session.call('load_system', { system: 'shop' });
    await session.eval(
      '(in-package :shop) (setf *rate* 7) (defvar *old* 1) (defmethod area ((shape string)) 2) (defun extra () 3)',
    );
  });

  test('a system is loaded as at the first time, and what differs is told', async () => {
    expect((await session.text('load_system', { system: 'shop', fresh: true })).split('\n\n')).toEqual([
      'In a fresh image:\nLoaded system shop',
      UNUSED,
      DIFFERENCES.join('\n'),
    ]);
  });

  test('a form sees what the image was given, and nothing else of it', async () => {
    const form = "(list shop::*rate* (fboundp 'shop::extra) (package-name *package*))";
    const { text } = await session.call('eval_form', { form, fresh: true });
    expect(text).toBe(
      ['In a fresh image, after loading shop:', '(5 NIL "COMMON-LISP-USER")', '', ...DIFFERENCES].join('\n'),
    );
    expect(await session.eval('(list *rate* (extra))')).toBe('(7 3)');
  });

  test('what a file defines that the running image has not loaded is not told', async () => {
    root.put('late.lisp', '(in-package :shop)\n(defun late () 1)');
    const text = await session.text('load_file', { path: 'late.lisp', fresh: true });
    const [head, ...rest] = DIFFERENCES;
    expect(text.split('\n\n').at(-1)).toBe(
      [head, '  It has not loaded 1 of the 5 files.', ...rest].join('\n'),
    );
  });

  test('what was only registered when a file was compiled is missing behind its fasl', async () => {
    const [answer, differences] = (
      await session.text('eval_form', { form: 'shop::*kinds*', fresh: 'fasls' })
    ).split('\n\n');
    expect(answer).toBe('In a fresh image, from the fasls that another has built, after loading shop:\nNIL');
    expect(differences).toContain('SHOP::*KINDS* is (:TEA) in it, NIL in the fresh image');
    const { text } = await session.call('load_file', { path: 'kinds.lisp', fresh: 'fasls' });
    expect(text).toMatch(
      /^In a fresh image, from the fasls that another has built, after loading shop:\nLoaded the fasl of kinds.lisp\n/,
    );
  });

  test('tests are compared with their results in the running image', async () => {
    await session.call('run_tests', { system: 'shop/tests' });
    const fresh = await session.call('run_tests', { system: 'shop/tests', fresh: 'true' });
    expect(untimed(fresh.text).split('\n').slice(0, 3)).toEqual([
      'In a fresh image:',
      'shop/tests: 2 tests pass (N s).',
      'Failed in the running image, pass now: RATE',
    ]);
    const built = await session.call('run_tests', { system: 'shop/tests', fresh: 'fasls' });
    expect(untimed(built.text).split('\n').slice(0, 5)).toEqual([
      'In a fresh image, from the fasls that another has built:',
      'shop/tests: 1 of 2 tests fails (N s).',
      '  KINDS tests.lisp:2: *kinds* = nil, wanted (:tea)',
      'Passed in the running image, fail now: KINDS',
      'Failed in the running image, pass now: RATE',
    ]);
    // What was remembered of the running image is as before.
    const { text } = await session.call('run_tests', { failed: true });
    expect(untimed(text)).toMatch(/^Tests that failed before: 1 of 1 test fails/);
  });

  test('neither history, journal nor held errors have it, and nothing of it stays', async () => {
    const history = await session.text('get_repl_history');
    await session.call('eval_form', { form: '(defvar *only-fresh* 1) (error "Gone.")', fresh: true });
    expect(await session.text('get_repl_history')).toBe(history);
    expect(await session.text('get_audit_log', { limit: 1, tool: 'eval_form' })).toMatch(
      /eval_form \(cautious\) failed after \d+ ms\n.*"fresh":"true"/,
    );
    expect(await session.eval("(boundp '*only-fresh*)")).toBe('NIL');
    expect(await session.text('get_last_error')).not.toContain('Gone.');
    await session.call('restart_image');
    expect(await session.eval('(find-symbol "*ONLY-FRESH*")')).not.toContain('error');
    expect(remains(session)).toEqual(ONE_IMAGE);
  });

  test.each([
    [
      'eval_form',
      { form: '1', on_error: 'hold', fresh: true },
      "Give 'fresh' or on_error: hold, not both; nothing was done. A fresh image ends with its call, so it cannot hold an error.",
    ],
    ['load_system', { system: 'shop', fresh: 'HEAD' }, "Parameter 'fresh' must be one of true, fasls."],
  ])('%s %j is refused', async (tool, args, text) => {
    expect(await session.call(tool, args)).toEqual(bad(text));
  });
});

describe('beside an image that has what is loaded later', () => {
  const root = sharedFolder();
  put(root, {
    'order.asd': `(defsystem "order" :serial t :components ((:file "early") (:file "late")))
(defsystem "runs" :serial t :components ((:file "runs") (:file "late")))`,
    'early.lisp': '(defun early () (twice 2))',
    'runs.lisp': '(defparameter *early* (twice 2))',
    'late.lisp': '(defmacro twice (x) `(* 2 ,x))',
  });
  let session: Session;
  beforeEach(async () => {
    session = await ownSession({ args: ['--root', root.path] });
    await session.call('load_file', { path: 'late.lisp' });
  });
  const WARNING = `Warnings (1):
  late.lisp
    STYLE-WARNING (line 1:1, DEFMACRO TWICE): TWICE is being redefined as a macro when it was previously assumed to be a function.`;

  test('what does not load there is told, and the call is not made', async () => {
    expect(await session.text('load_system', { system: 'runs' })).toBe('Loaded system runs');
    const texts: string[] = [];
    for (const fresh of ['true', 'fasls']) {
      const { text, isError } = await session.call('eval_form', { form: '*early*', fresh });
      expect(isError).toBe(true);
      expect(text).toMatch(/\n\nSo the call itself was not made\.$/);
      texts.push(text.split('\n').slice(0, 4).join('\n'));
    }
    const failure = `System runs was not loaded to its end.

Error: The function COMMON-LISP-USER::TWICE is undefined.`;
    expect(texts).toEqual([
      `In a fresh image:\n${failure}`,
      `In a fresh image that was to build the fasls:\n${failure}`,
    ]);
  });

  test('the warnings of a first build are told', async () => {
    expect(await session.text('load_system', { system: 'order' })).toBe('Loaded system order');
    expect(await session.call('load_system', { system: 'order', fresh: true })).toEqual(
      good(
        `In a fresh image:\nLoaded system order\n\n${WARNING}\n\nThe running image differs:\n  1 of these warnings was not shown by its loads: late.lisp.`,
      ),
    );
    const reported = `The running image differs:\n  Not shown by its loads: ${WARNING.replace(/\n/g, '\n  ')}`;
    expect(await session.call('load_system', { system: 'order', fresh: 'fasls' })).toEqual(
      good(`In a fresh image, from the fasls that another has built:\nLoaded system order\n\n${reported}`),
    );
    const { text } = await session.call('eval_form', { form: '(early)', fresh: 'fasls' });
    expect(text).toMatch(
      /, after loading order:\nError: COMMON-LISP-USER::TWICE is a macro, not a function\./,
    );
    expect(text.endsWith(`\n\n${reported}`)).toBe(true);
  });
});

describe('its end', () => {
  const root = sharedFolder();
  put(root, {
    'hang.asd': '(defsystem "hang" :components ((:file "hang")))',
    'hang.lisp': `(eval-when (:compile-toplevel)
  (close (open (merge-pathnames "begun" *compile-file-truename*) :if-exists nil :direction :output))
  (sb-sys:without-interrupts (loop (sleep 1))))`,
    'die.asd': '(defsystem "die" :components ((:file "die")))',
    'die.lisp': '(eval-when (:compile-toplevel) (sb-ext:exit :code 3 :abort t))',
  });
  const begun = join(root.path, 'begun.lisp');
  beforeEach(() => rmSync(begun, { force: true }));
  const session = sharedSession({ args: ['--root', root.path] }, '(defvar *kept* 1)');

  test('comes with its answer, also where nothing was loaded that it could load', async () => {
    expect(await session.call('eval_form', { form: '(+ 1 2)', fresh: true })).toEqual(
      good(
        'In a fresh image:\n3\n\nNo file of the workspace was loaded, so nothing was compared with the running image.',
      ),
    );
    expect(remains(session)).toEqual(ONE_IMAGE);
  });

  test('comes when the client cancels a build that hangs', async () => {
    const cancel = new AbortController();
    const args = { system: 'hang', fresh: true };
    const rejected = expect(session.call('load_system', args, { signal: cancel.signal })).rejects.toThrow();
    await until('its build', 60_000, () => existsSync(begun));
    expect(remains(session)).toMatchObject({ images: 2, folders: [expect.any(String)] });
    cancel.abort();
    await rejected;
    await until('its end', 60_000, () => imagesOf(session.pid).length === 1);
    await until('its folder', 60_000, () => remains(session).folders.length === 0);
    expect(await session.eval('*kept*')).toBe('1');
  });

  test('comes by interrupt, and image_status lists the call until then', async () => {
    const call = session.call('eval_form', {
      form: '(progn (print :begun) (loop (sleep 0.1)))',
      fresh: true,
    });
    const LISTED = /Calls in fresh images:\n {2}(\d+): eval_form \(progn .*\n.*:BEGUN/;
    let number = 0;
    await until('its call', 60_000, async () => {
      number = Number(LISTED.exec(await session.text('image_status'))?.[1]);
      return number > 0;
    });
    const own = session.call('eval_form', { form: '(loop (sleep 0.1))' });
    await until('the other', 60_000, async () =>
      (await session.text('image_status')).includes('The Lisp image is busy: 1 call runs.'),
    );
    expect(await session.text('interrupt')).toMatch(
      new RegExp(
        `^2 calls run or wait: \\d+ \\(eval_form \\(loop .*\\), ${number} \\(eval_form \\(progn .*\\)\\. Give the number of one as 'job'`,
      ),
    );
    expect(await session.text('interrupt', { job: number })).toMatch(
      new RegExp(`^Call ${number} \\(eval_form .*\\): Interrupted after `),
    );
    expect((await call).text).toMatch(
      /^In a fresh image:\nError: Interrupted after \d+\.\d s by the tool interrupt; the fresh image ends with its call\.\n/,
    );
    expect(await session.text('image_status')).not.toContain('fresh images');
    await session.text('interrupt');
    await own;
    expect(await session.eval('*kept*')).toBe('1');
  });

  test('is told when the image ends in its build', async () => {
    const { text, isError } = await session.call('load_system', { system: 'die', fresh: true });
    expect(isError).toBe(true);
    expect(text).toContain('The fresh image was lost during this call: it exited with code 3.\n');
    expect(text).toContain('The fresh image was lost, so it was not compared with the running one.');
    expect(remains(session)).toEqual(ONE_IMAGE);
    expect(await session.eval('*kept*')).toBe('1');
  });

  test('does not come before that of another', async () => {
    const forms = ['(progn (sleep 1) (list 1))', '(list 2)'];
    const texts = await Promise.all(forms.map((form) => session.text('eval_form', { form, fresh: true })));
    expect(texts.map((text) => text.split('\n')[1])).toEqual(['(1)', '(2)']);
    expect(remains(session)).toEqual(ONE_IMAGE);
  });

  test('comes with that of the server', async () => {
    const other = await ownSession({ args: ['--root', root.path] });
    const ended = other.call('load_system', { system: 'hang', fresh: true }).catch(() => {});
    await until('its build', 60_000, () => existsSync(begun));
    const images = imagesOf(other.pid);
    expect(images).toHaveLength(2);
    const { folders } = remains(other);
    await other.close();
    await ended;
    for (const image of images) await gone(image, 60_000);
    await until('its folder', 60_000, () => !readdirSync(tmpdir()).includes(folders[0] ?? ''));
  });
});

sandboxTest('its box is that of the other', async () => {
  const root = ownFolder();
  put(root);
  const session = await ownSession({ args: ['--root', root.path, '--sandbox', 'on'] });
  const text = await session.text('load_system', { system: 'shop', fresh: 'fasls' });
  expect(text).toMatch(/^In a fresh image, from the fasls that another has built:\nLoaded system shop/);
  const form = '(with-open-file (out "/usr/live-lisp-test" :direction :output) 1)';
  const { text: refused, isError } = await session.call('eval_form', { form, fresh: true });
  expect(isError).toBe(true);
  expect(refused).toContain('Read-only file system');
  expect(remains(session)).toEqual(ONE_IMAGE);
});

test('beside the image of a user it is one of ours', async () => {
  const root = ownFolder();
  put(root);
  const place = servingPlace();
  const users = await startServing(place.path, 'sbcl-1', root.path);
  onTestFinished(async () => {
    await users.kill();
    place.remove();
  });
  const session = await ownSession({
    args: ['--root', root.path],
    env: { LIVE_LISP_SERVING: place.path, ASDF_OUTPUT_TRANSLATIONS: `/:${root.path}/cache/` },
  });
  await session.call('load_system', { system: 'shop' });
  await session.eval('(setf shop::*rate* 7)');
  const { text } = await session.call('eval_form', { form: 'shop::*rate*', fresh: true });
  expect(text).toMatch(/^In a fresh image of live-lisp, not the user's, after loading shop:\n5\n/);
  expect(text).toMatch(/SHOP::\*RATE\* is 7 in it, 5 in the fresh image\.$/);
});

test('there is none where a command starts the image', async () => {
  const session = await ownSession({ args: [...NO_SYSTEMS, '--image', `there=${testSbcl()}`] });
  expect(await session.call('eval_form', { form: '1', fresh: true })).toEqual(
    bad(
      "Parameter 'fresh' starts an SBCL on this machine, but the command of --image starts this session's image elsewhere, so nothing was done. Call without 'fresh'.",
    ),
  );
});
