// Tests with edits that hold for one run alone: whether a test notices the change, and that the workspace and the
// running image stay as they are.

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bad, type Session } from '../harness.ts';
import { servingPlace, startServing } from '../image/served.ts';
import { sandboxTest } from '../sandbox/namespaces.ts';
import { imagesOf, until } from '../server/processes.ts';
import { ownFolder, ownSession, sharedFolder, sharedSession } from '../shared.ts';

const FILES = {
  'shop.asd': `(defsystem "shop" :serial t :components ((:file "macros") (:file "prices") (:file "shop")))
(defsystem "shop/tests" :depends-on ("shop" "sb-rt") :components ((:file "tests"))
  :perform (test-op (o c) (uiop:symbol-call :sb-rt :do-tests)))`,
  'macros.lisp': `(defpackage shop (:use cl))
(in-package shop)
(defmacro twice (form) \`(* 2 ,form))`,
  'prices.lisp': '(in-package shop)\n(defun price (item) (length item))\n(defun unused () 1)',
  'shop.lisp': `(in-package shop)
(defun total (items) (loop for item in items sum (price item)))
(defun pair (item) (twice (price item)))`,
  'tests.lisp': `(in-package shop)
(sb-rt:deftest total (total '("tea" "oats")) 7)
(sb-rt:deftest pair (pair "tea") 6)
(sb-rt:deftest broken (total '("tea")) 4)
(sb-rt:deftest file (with-open-file (in "rate.txt") (read in)) 5)`,
  'rate.txt': '5',
  'alone.lisp': '(defun alone () 1)',
};

/** Returns the images of the server of SESSION, and the folders that it has for its calls. */
function remains(session: Session) {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(`live-lisp-${session.pid}-`));
  return { images: imagesOf(session.pid).length, folders };
}
/** The argument `then`. */
const THEN = 'then';
const ONE_IMAGE = { images: 1, folders: [] };

function put(root: { put: (path: string, text: string) => unknown }, files: Record<string, string> = FILES) {
  for (const [name, text] of Object.entries(files)) root.put(name, text);
}

/** Returns TEXT without its seconds. */
const untimed = (text: string) => text.replace(/\d+\.\d s/g, 'N s');

describe('tests without a framework', () => {
  const root = sharedFolder();
  put(root, {
    'plain.asd': `(defsystem "plain" :components ((:file "plain")) :in-order-to ((test-op (test-op "plain/tests"))))
(defsystem "plain/tests" :depends-on ("plain") :components ((:file "plain-tests"))
  :perform (test-op (o c) (uiop:symbol-call :plain '#:run)))`,
    'plain.lisp': '(defpackage plain (:use cl))\n(in-package plain)\n(defun one () 1)\n(defun two () 2)',
    'plain-tests.lisp': '(in-package plain)\n(defun run () (assert (= 1 (one))) (= 2 (two)))',
  });
  // Nobody is asked, because the workspace stays as it is.
  const session = sharedSession({ args: ['--root', root.path, '--no-sandbox', '--ask', 'dangerous'] });
  const verdictOf = async (definition: string, old: string, now: string) => {
    const edits = [{ definition, old, new: now }];
    const { text, isError } = await session.call('run_tests', { edits, fresh: true, system: 'plain' });
    return { verdict: text.split('\n')[0], isError };
  };

  test('a change with which the test operation signals an error is noticed', async () => {
    expect(await verdictOf('plain::one', '() 1', '() 3')).toEqual({
      verdict: 'Noticed: the test run ends early with this change, but not without it.',
      isError: false,
    });
  });

  test('a change with which the test operation returns false cannot be known', async () => {
    expect(await verdictOf('plain::two', '() 2', '() 3')).toEqual({
      verdict:
        'Not known whether a test notices this change: with it and without it, the test operation ended without an error; a failure that is only printed or returned is not detected.',
      isError: true,
    });
  });

  test('a change that does not build', async () => {
    expect(await verdictOf('plain::two', '() 2', '() #.(error "No")')).toEqual({
      verdict:
        'This change does not build, so no test ran with it. Without it, the test operation ended without an error.',
      isError: true,
    });
  });
});

describe('in a workspace without git', () => {
  const root = sharedFolder();
  put(root);
  const session = sharedSession({
    args: ['--root', root.path, '--no-sandbox'],
    env: { ASDF_OUTPUT_TRANSLATIONS: `/:${root.path}/cache/` },
  });
  const run = (edits: object[], more: object = { system: 'shop/tests' }) =>
    session.call('run_tests', { edits, fresh: true, ...more });
  const replaced = (definition: string, old: string, now: string) => ({ definition, old, new: now });
  beforeAll(async () => {
    await session.call('run_tests', { system: 'shop/tests' });
  });

  const sectionsOf = async (edits: object[], more?: object) => (await run(edits, more)).text.split('\n\n');
  /** Returns the first section of an answer. */
  const verdictOf = async (edits: object[], more?: object) => (await sectionsOf(edits, more))[0];

  test('the tests that notice the change are told first, and nothing stays', async () => {
    const { text, isError } = await run([replaced('shop::price', '(length item)', '(1+ (length item))')]);
    expect(isError).toBe(false);
    expect(
      untimed(text),
    ).toBe(`Noticed: 2 of 4 tests fail with this change and pass without it: TOTAL, PAIR. 1 of 4 tests passes with this change and fails without it: BROKEN.

With the change of prices.lisp, in a fresh image:
shop/tests: 2 of 4 tests fail (N s).
  TOTAL tests.lisp:2: (total '("tea" "oats")) = 9, wanted 7
  PAIR tests.lisp:3: (pair "tea") = 8, wanted 6
All of these passed in the running image.
Failed in the running image, pass now: BROKEN`);
    expect(await session.eval('(shop::price "tea")')).toBe('3');
    for (const [name, content] of Object.entries(FILES))
      expect(readFileSync(join(root.path, name), 'utf8')).toBe(content);
    expect(remains(session)).toEqual(ONE_IMAGE);
    // What was remembered of the running image is as before.
    const { text: again } = await session.call('run_tests', { failed: true });
    expect(untimed(again)).toMatch(/^Tests that failed before: 1 of 1 test fails/);
  });

  test('so is that none notices it, beside those that fail in any case', async () => {
    expect(await verdictOf([replaced('shop::unused', '1', '2')])).toBe(
      'No test noticed this change: 3 of 4 tests pass with it, and no other passes without it.',
    );
  });

  test('an endless loop, when the tests run and when the code is compiled', async () => {
    // A busy machine too loads and tests what has no loop within these seconds.
    const more = { system: 'shop/tests', timeout: 12 };
    const { text } = await run([replaced('shop::price', '(length item)', '(loop (sleep 1))')], more);
    expect(untimed(text)).toMatch(
      /^Noticed: 1 of 4 tests fails with this change and passes without it: TOTAL\.\n\n.*\n.*\n {2}TOTAL tests\.lisp:2: did not end: the run was interrupted after N s, past its limit\n/,
    );
    expect(await verdictOf([replaced('shop::twice', '`(* 2 ,form)', '(loop (sleep 1))')], more)).toBe(
      'This change does not build, so no test ran with it. Without it, 4 tests ran.',
    );
    expect(remains(session)).toEqual(ONE_IMAGE);
  });

  test('a file that nothing loads', async () => {
    const [test, edit] = [{ test: 'shop::pair' }, { path: 'alone.lisp', old: '1', new: '2' }];
    expect(await verdictOf([edit], test)).toBe(
      'Not known whether a test notices this change: nothing loaded alone.lisp. Load it first, or give its system.',
    );
    expect(await verdictOf([edit, replaced('shop::unused', '1', '2')], test)).toBe(
      'No test noticed this change: the only one passes. Nothing loaded alone.lisp, so the change there had no effect.',
    );
  });

  test('a data file is not loaded, so it is no reason for doubt', async () => {
    expect(await verdictOf([{ path: 'rate.txt', old: '5', new: '5 ' }], { test: 'shop::file' })).toBe(
      'No test noticed this change: the only one passes.',
    );
  });

  test('a test that passes with a change of three files only', async () => {
    const price = replaced('shop::price', '(length item)', '(if (equal item "tea") 4 (length item))');
    const twice = replaced('shop::twice', '`(* 2 ,form)', '`(- (* 2 ,form) 2)');
    const total = replaced('shop::total', 'sum (price item)', 'when (cdr items) return 7 sum (price item)');
    const [verdict, change] = await sectionsOf([price, twice, total]);
    expect(verdict).toBe('Noticed: 1 of 4 tests passes with this change and fails without it: BROKEN.');
    expect(change).toMatch(/^With the change of prices\.lisp, macros\.lisp, shop\.lisp, in a fresh image:\n/);
  });

  test('tests that do not run with the change', async () => {
    const gone = { path: 'tests.lisp', old: '(sb-rt:deftest pair (pair "tea") 6)', new: '' };
    expect(await verdictOf([gone])).toBe(
      'No test noticed this change: 2 of 4 tests pass with it. 1 test that passes without the change did not run with it: PAIR.',
    );
  });

  test('tests that pass in no case', async () => {
    expect(await verdictOf([replaced('shop::unused', '1', '2')], { test: 'shop::broken' })).toBe(
      'Not known whether a test notices this change: no test passes without it.',
    );
  });

  test('the run without edits is made once for the same files', async () => {
    const more = { system: 'shop/tests', seed: 7 };
    const edits = [replaced('shop::twice', '`(* 2 ,form)', 'form')];
    const note =
      'The run without the change is reused from an earlier call: no file of the workspace has changed since.';
    const first = await run(edits, more);
    expect(first.text).not.toContain(note);
    const again = await run([replaced('shop::pair', '(price item)', '1')], more);
    expect(again.text).toMatch(
      /^Noticed: 1 of 4 tests fails with this change and passes without it: PAIR\.\n/,
    );
    expect(again.text.split('\n\n').at(-1)).toBe(note);
    root.put('rate.txt', '6');
    const { text } = await run(edits, more);
    root.put('rate.txt', '5');
    expect(text).toMatch(/^Noticed: 1 of 4 tests fails .*: PAIR\.\n/);
    expect(text).toContain('\n  FILE ');
    expect(text).not.toContain(note);
  });

  test('files loaded by an absolute name are those of the workspace', async () => {
    const names = ['macros', 'prices', 'shop'].map((name) => join(root.path, `${name}.lisp`));
    root.put(
      'all.lisp',
      `(defpackage absolute (:use cl))
(in-package absolute)
(dolist (file '(${names.map((name) => JSON.stringify(name)).join(' ')} )) (load file))
(require :sb-rt)
(load ${JSON.stringify(join(root.path, 'tests.lisp'))})`,
    );
    const session = await ownSession({ args: ['--root', root.path, '--no-sandbox'] });
    await session.call('load_file', { path: 'all.lisp' });
    const { text } = await session.call('run_tests', {
      edits: [replaced('shop::twice', '`(* 2 ,form)', 'form')],
      fresh: true,
      test: 'shop::pair',
    });
    rmSync(join(root.path, 'all.lisp'));
    expect(text.split('\n\n')[0]).toBe(
      'Not known whether a test notices this change: macros.lisp was loaded by an absolute path, so from the workspace and without the change. Load it by a path relative to its system or to the working directory.',
    );
  });

  test('files that change between the two runs are told', async () => {
    const written = join(root.path, 'written.txt');
    const text = `(defun pair (item) (with-open-file (out ${JSON.stringify(written)} :direction :output) (twice (price item))))`;
    const answer = await run([{ path: 'shop.lisp', definition: 'shop::pair', text }]);
    rmSync(written);
    expect(answer.text).toContain(
      '\n\nFiles of the workspace changed between the two runs, so the runs are not comparable. Code that uses an absolute path writes to the workspace, not to the copy.',
    );
  });

  test('forms after the tests, a new file, and coverage that is not kept', async () => {
    const edits = [
      { path: 'new/more.lisp', text: '(defun shop::more () 5)' },
      { path: 'shop.lisp', text: '(load "new/more.lisp")' },
    ];
    const { text } = await run(edits, { test: 'shop::pair', [THEN]: ['(shop::more)'], coverage: true });
    expect(text).toMatch(/^No test noticed this change: the only one passes\.\n/);
    expect(text).toMatch(/\n\nThen:\n5$/);
    expect(existsSync(join(root.path, 'new'))).toBe(false);
    expect(await session.text('run_tests', { touching: 'shop::pair' })).toBe(
      "No run has recorded coverage yet. Call run_tests with coverage: true, then with 'touching'.",
    );
  });
});

describe('its copy of the workspace', () => {
  const root = sharedFolder();
  put(root);
  const other = sharedFolder();
  other.put('other.lisp', '(defun other () 1)');
  root.put('node_modules/extra.lisp', '(defun extra () 1)');
  root.put('data/deep/rate.txt', '6');
  root.put('script', '#!/bin/sh\n');
  chmodSync(join(root.path, 'script'), 0o755);
  mkdirSync(join(root.path, 'empty'));
  for (const [target, name] of [
    ['data/deep/rate.txt', 'link.txt'],
    [join(root.path, 'prices.lisp'), 'prices-link.lisp'],
    [other.path, 'other'],
    ['nothing', 'dangling'],
  ] as const)
    symlinkSync(target, join(root.path, name));
  const session = sharedSession({ args: ['--root', root.path, '--root', other.path, '--no-sandbox'] });
  const run = (edits: object[], more: object = {}) =>
    session.call('run_tests', { edits, fresh: true, test: 'shop::pair', ...more });
  beforeAll(async () => {
    await session.call('load_system', { system: 'shop/tests' });
  });

  test('has directories, modes, links and installed packages', async () => {
    const form = `(let ((home (namestring *default-pathname-defaults*)))
  (flet ((below (name) (let ((real (probe-file name))) (and real (enough-namestring real home)))))
    (list (mapcar #'below '("link.txt" "prices-link.lisp" "dangling" "empty/" ".git/"))
          (mapcar #'namestring (mapcar #'probe-file '("other/other.lisp" "node_modules/extra.lisp")))
          (logand #o777 (sb-posix:stat-mode (sb-posix:stat "script"))))))`;
    const { text } = await run([{ definition: 'shop::unused', old: '1', new: '2' }], {
      [THEN]: ['(require :sb-posix)', form],
    });
    expect(text).toContain('(("data/deep/rate.txt" "prices.lisp" NIL "empty/" NIL)');
    for (const path of [join(other.path, 'other.lisp'), join(root.path, 'node_modules', 'extra.lisp')])
      expect(text).toContain(JSON.stringify(path));
    expect(text).toContain(' 493)');
  });

  test.each([
    ['of another root', join(other.path, 'other.lisp'), join(other.path, 'other.lisp')],
    ['of an installed package', 'node_modules/extra.lisp', 'node_modules/extra.lisp'],
  ])('has no file %s, which is refused', async (_, path, name) => {
    expect(await run([{ path, old: '1', new: '2' }])).toEqual(
      bad(
        `run_tests tries edits in a copy of ${root.path}, and ${name} is not in it: the copy has no other roots, no version control and no installed packages. Nothing was done. Leave out the edits of this file.`,
      ),
    );
    expect(remains(session)).toEqual(ONE_IMAGE);
  });

  test('is not made for edits with fasls', async () => {
    expect(await run([{ path: 'alone.lisp', old: '1', new: '2' }], { fresh: 'fasls' })).toEqual(
      bad(
        "Parameter 'edits' needs fresh: true, not fasls; nothing was done. Edits apply only to the run in the fresh image.",
      ),
    );
  });

  const begun = join(root.path, 'begun');
  const hang = `(progn (close (open ${JSON.stringify(begun)} :direction :output)) (loop (sleep 0.1)))`;
  const args = { edits: [{ definition: 'shop::price', old: '(length item)', new: hang }], fresh: true };

  test('is not made again when the call is interrupted', async () => {
    const call = session.call('run_tests', { ...args, system: 'shop/tests' });
    await until('its tests', 60_000, () => existsSync(begun));
    const [, number] =
      /Calls in fresh images:\n {2}(\d+): run_tests/.exec(await session.text('image_status')) ?? [];
    await session.call('interrupt', { job: Number(number) });
    const { text, isError } = await call;
    expect(isError).toBe(true);
    expect(text).toMatch(/^Not known whether a test notices this change: the call was interrupted\.\n/);
    expect(remains(session)).toEqual(ONE_IMAGE);
    rmSync(begun);
  });

  test('goes with a cancelled call', async () => {
    const cancel = new AbortController();
    const call = session.call('run_tests', { ...args, system: 'shop/tests' }, { signal: cancel.signal });
    const rejected = expect(call).rejects.toThrow();
    await until('its tests', 60_000, () => existsSync(begun));
    expect(remains(session)).toMatchObject({ images: 2, folders: [expect.any(String), expect.any(String)] });
    cancel.abort();
    await rejected;
    await until('its end', 60_000, () => {
      const { images, folders } = remains(session);
      return images === 1 && folders.length === 0;
    });
    expect(await session.eval('(shop::price "tea")')).toBe('3');
  });
});

const CHANGE = [{ definition: 'shop::twice', old: '* 2', new: '* 3' }];
const NOTICED = /^Noticed: 1 of 4 tests fails with this change and passes without it: PAIR\./;

sandboxTest('it is in the box of the other', async () => {
  const root = ownFolder();
  put(root);
  const session = await ownSession({ args: ['--root', root.path, '--sandbox', 'strict'] });
  await session.call('load_system', { system: 'shop/tests' });
  const { text } = await session.call('run_tests', { edits: CHANGE, system: 'shop/tests', fresh: true });
  expect(text).toMatch(NOTICED);
  expect(text).toContain('\n  PAIR tests.lisp:3: (pair "tea") = 9, wanted 6\n');
  const write = {
    definition: 'shop::pair',
    text: '(defun pair (item) (with-open-file (out "/usr/live-lisp-test" :direction :output) item))',
  };
  const refused = await session.text('run_tests', { edits: [write], system: 'shop/tests', fresh: true });
  expect(refused).toMatch(NOTICED);
  expect(refused).toContain('Read-only file system');
  expect(remains(session)).toEqual(ONE_IMAGE);
});

sandboxTest('a copy that does not fit is refused, and removed', async () => {
  const [root, temporary, programs] = [ownFolder(), ownFolder(), ownFolder()];
  put(root);
  root.put('large', 'x'.repeat(8_000_000));
  const node = programs.put(
    'node',
    `#!/bin/sh\nexec bwrap --dev-bind / / --size 4000000 --tmpfs '${temporary.path}' '${process.execPath}' "$@"\n`,
  );
  chmodSync(node, 0o755);
  const session = await ownSession({
    args: ['--root', root.path, '--no-sandbox'],
    env: { TMPDIR: temporary.path },
    node,
  });
  expect(await session.call('run_tests', { edits: CHANGE, system: 'shop/tests', fresh: true })).toEqual(
    bad(
      `run_tests tries edits in a copy of the workspace. The copy does not fit into ${temporary.path}, so the call failed. Make room there, or ask the user to start the server with TMPDIR set to a directory with more space.`,
    ),
  );
  expect(await session.eval(`(directory "${temporary.path}/live-lisp-*/")`)).toBe('NIL');
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
  const { text } = await session.call('run_tests', { edits: CHANGE, system: 'shop/tests', fresh: true });
  expect(text).toMatch(NOTICED);
  expect(text).toContain("With the change of macros.lisp, in a fresh image of live-lisp, not the user's:\n");
  expect(await session.eval('(shop::pair "tea")')).toBe('6');
});
