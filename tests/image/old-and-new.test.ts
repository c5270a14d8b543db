// A form with the files of a commit and with those that are there: what differs, that the repository stays as it is, and
// that nothing of it stays elsewhere.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { putRevision } from '../../src/image/process/revision.ts';
import { bad, type Session } from '../harness.ts';
import { sandboxTest } from '../sandbox/namespaces.ts';
import { imagesOf } from '../server/processes.ts';
import { ownFolder, ownSession, sharedFolder, sharedSession } from '../shared.ts';

const SHOP = `(defpackage shop (:use cl))
(in-package shop)
(defclass cart () ())
(defun prices () (loop for i below 40 collect (list :name (format nil "Article ~D" i) :price (* i 10))))
(defun label () (make-string 300 :initial-element #\\a))
(defun check (number) (if (numberp number) (* 2 number) (error "No number: ~A" number)))
(defun say () (format t "Hello~%") (warn "Careful") :ok)`;
const CHANGED = SHOP.replace('(* i 10)', '(if (= i 33) 1 (* i 10))')
  .replace('300 :initial-element #\\a)', '300 :initial-element #\\a) (declaim (inline label))')
  .replace('No number', 'Not a number')
  .replace('Hello', 'Hallo')
  .replace('(defun say ()', '(defun say (&aux unused)');

interface Folder {
  readonly path: string;
  put: (path: string, text: string) => unknown;
}

/** Runs git in FOLDER with ARGS, and INPUT as its standard input. Returns what it wrote. */
function git({ path }: Folder, args: readonly string[], input: string | Buffer = ''): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  const options = { cwd: path, env, input };
  return execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], options)
    .toString()
    .trim();
}

/** Makes a repository in FOLDER whose commit has the shop in its folder app, and then changes the files there. */
function makeRepository(folder: Folder): void {
  git(folder, ['init', '-q']);
  folder.put('app/shop.asd', '(defsystem "shop" :components ((:file "shop")))');
  folder.put('app/shop.lisp', SHOP);
  folder.put('app/extra.lisp', '(defun extra () 1)');
  symlinkSync('extra.lisp', join(folder.path, 'app', 'link.lisp'));
  git(folder, ['add', '-A']);
  git(folder, ['commit', '-q', '-m', 'The shop']);
  folder.put('app/shop.lisp', CHANGED);
  folder.put('app/extra.lisp', '(defun extra () 2)');
}

/** Returns the images of the server of SESSION, and the folders that it has for its calls. */
function remains(session: Session) {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith(`live-lisp-${session.pid}-`));
  return { images: imagesOf(session.pid).length, folders };
}

describe('in a repository', () => {
  const root = sharedFolder();
  makeRepository(root);
  const session = sharedSession({ args: ['--root', join(root.path, 'app'), '--no-sandbox'] });
  const commit = git(root, ['rev-parse', '--short=8', 'HEAD']);
  const heading = (loaded = 'shop') =>
    `With the files of HEAD (${commit}) (-) and those on the disk (+), each in a fresh image, after loading ${loaded}:`;
  const LOADS = `Loads:
 Loaded system shop
+
+Warnings (1):
+  shop.lisp
+    STYLE-WARNING (DEFUN SAY): The variable UNUSED is defined but never used.`;
  const compared = async (form: string, fresh = 'HEAD') =>
    (await session.text('eval_form', { form, fresh })).split('\n\n');
  beforeAll(async () => {
    await session.call('load_system', { system: 'shop' });
  });

  test('what differs is told: values, conditions, output, and warnings of loads', async () => {
    expect((await compared('(shop::prices)')).join('\n\n')).toBe(`${heading()} different values, loads.

Values:
... 13 equal lines
  (:NAME "Article 26" :PRICE 260) (:NAME "Article 27" :PRICE 270)
  (:NAME "Article 28" :PRICE 280) (:NAME "Article 29" :PRICE 290)
  (:NAME "Article 30" :PRICE 300) (:NAME "Article 31" :PRICE 310)
- (:NAME "Article 32" :PRICE 320) (:NAME "Article 33" :PRICE 330)
+ (:NAME "Article 32" :PRICE 320) (:NAME "Article 33" :PRICE 1)
  (:NAME "Article 34" :PRICE 340) (:NAME "Article 35" :PRICE 350)
  (:NAME "Article 36" :PRICE 360) (:NAME "Article 37" :PRICE 370)
  (:NAME "Article 38" :PRICE 380) (:NAME "Article 39" :PRICE 390))

${LOADS}`);
    expect(await compared('(shop::check 1) (shop::prices) (shop::check 2)')).toEqual([
      `${heading()} different values of form 2, loads.`,
      expect.stringMatching(/^Values:\n\.\.\. 14 equal lines\n(.*\n)+\.\.\. 1 equal line$/),
      ...LOADS.split('\n\n'),
    ]);
    expect((await compared('(shop::check :a)'))[1]).toBe(
      'Condition:\n-Error: No number: A\n+Error: Not a number: A\n Type: COMMON-LISP::SIMPLE-ERROR',
    );
    expect((await compared('(shop::say)'))[1]).toBe('Output:\n Output:\n-Hello\n+Hallo');
  });

  test('files that were loaded by themselves are compared too, and what is the same is told once', async () => {
    await session.call('load_file', { path: 'extra.lisp' });
    const [first, values] = await compared('(list (extra) (shop::check 2))');
    expect(first).toBe(`${heading('shop, extra.lisp')} different values, loads.`);
    expect(values).toBe('Values:\n-(1 4)\n+(2 4)');
    expect((await compared('(error "No.")')).at(-1)).toBe(
      'Both:\nError: No.\nType: COMMON-LISP::SIMPLE-ERROR',
    );
    root.put('app/shop.lisp', SHOP);
    expect(await compared('(make-instance \'shop::cart) (probe-file "link.lisp")')).toEqual([
      `${heading('shop, extra.lisp')} the same.`,
      expect.stringMatching(/^\[1\] #<SHOP::CART \{[0-9A-F]+\}>\n\[2\] #P".*\/app\/extra\.lisp"$/),
      'Values were compared as printed, ignoring what is inside #<...> or was cut. To compare such parts, return them from the form.',
    ]);
    root.put('app/shop.lisp', CHANGED);
  });

  test('of a long line the place of the first difference is told', async () => {
    root.put('app/shop.lisp', SHOP);
    root.put('app/extra.lisp', '(defun extra () (format nil "~300,,,\'😀Ab" "c"))');
    git(root, ['add', '-A']);
    git(root, ['commit', '-q', '-m', 'A long line']);
    root.put('app/extra.lisp', '(defun extra () (format nil "~300,,,\'😀Ad" "c"))');
    const [, values] = await compared('(extra)');
    expect(values).toBe(`Values:\n-...${'😀'.repeat(20)}b"\n+...${'😀'.repeat(20)}d"`);
    git(root, ['reset', '-q', '--soft', 'HEAD~1']);
  });

  test('what does not load is told, and the call is not made there', async () => {
    root.put('app/shop.lisp', `${SHOP}\n(error "Broken.")`);
    const { text, isError } = await session.call('eval_form', { form: '(shop::check 1)', fresh: 'HEAD' });
    expect(isError).toBe(true);
    expect(text).toContain('different values, loads.\n\nValues:\n-2\n\nLoads:\n-Loaded system shop\n');
    expect(text).toContain('+Error: Broken.\n');
    expect(text).toContain(
      '\n\nNot all files on the disk could be loaded, so the call was not made with them.',
    );
    root.put('app/shop.lisp', CHANGED);
  });

  test('a form is compared with nothing loaded before it, and the answer says so', async () => {
    const empty = await ownSession({ args: ['--root', join(root.path, 'app'), '--no-sandbox'] });
    expect(await empty.text('eval_form', { form: '(load "extra.lisp") (extra)', fresh: 'HEAD' })).toContain(
      'each in a fresh image, with nothing loaded before: different values of form 2.\n',
    );
  });

  test('a name of a commit that is not known is refused', async () => {
    for (const fresh of ['nobody', '--help', 'HEAD~9'])
      expect(await session.call('eval_form', { form: '1', fresh })).toEqual(
        bad(
          `git finds no commit "${fresh}" in ${join(root.path, 'app')}, so nothing was done. Call with fresh: true, or with a commit that git log shows, such as fresh: HEAD~1.`,
        ),
      );
  });

  test('neither the repository nor what it says to run is touched, and nothing stays', async () => {
    const marker = join(root.path, 'ran');
    git(root, ['config', 'filter.mark.smudge', `touch ${marker}; cat`]);
    git(root, ['config', 'core.fsmonitor', `touch ${marker}; false`]);
    root.put('app/.gitattributes', '*.lisp filter=mark export-ignore\n');
    root.put('.git/info/attributes', '*.lisp filter=mark export-ignore\n');
    const times = () => {
      const folder = join(root.path, '.git');
      return readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mtimeMs]);
    };
    const before = times();
    expect((await compared('(shop::say)'))[1]).toContain('-Hello');
    // Names of files in the index, which git reads with the help of that program.
    for (const fresh of [':', ':shop.lisp', ':0:shop.lisp', '-'])
      expect(await session.text('eval_form', { form: '1', fresh })).toContain(
        `git finds no commit "${fresh}"`,
      );
    expect(existsSync(marker)).toBe(false);
    expect(times()).toEqual(before);
    expect(remains(session)).toEqual({ images: 1, folders: [] });
  });
});

describe('its refusals', () => {
  const INSTEAD = 'Nothing was done. To compare with the running image instead, call with fresh: true.';

  test('outside of a repository', async () => {
    const root = ownFolder();
    const session = await ownSession({ args: ['--root', root.path] });
    // Git's own words depend on the file systems above the folder.
    const { stderr } = spawnSync('git', ['rev-parse'], { cwd: root.path, encoding: 'utf8' });
    const [why = ''] = stderr.split('\n');
    expect(why).toMatch(/^fatal: not a git repository/);
    expect(await session.call('eval_form', { form: '1', fresh: 'HEAD' })).toEqual(
      bad(`git cannot read the files of HEAD in ${root.path} (${why}). ${INSTEAD}`),
    );
  });

  test('without git, of a commit without the folder, and with files outside', async () => {
    const root = ownFolder();
    makeRepository(root);
    const folder = join(root.path, 'out');
    const put = (of: string, revision = 'HEAD', folders: string[] = []) =>
      putRevision({ root: of, folders }, revision, { folder, scratch: join(root.path, 'scratch') });
    await expect(put(root.path, 'HEAD', ['/'])).rejects.toThrow(
      `The files of a commit cannot be read: git is not installed (there is no git on PATH outside the workspace). Install it. ${INSTEAD}`,
    );
    const fresh = join(root.path, 'fresh');
    mkdirSync(fresh);
    await expect(put(fresh)).rejects.toThrow(
      /^git cannot read the files of HEAD in .+\/fresh \(fatal: .+\)\. Nothing was done\./,
    );
    const tree = (mode: string, name: string, object: string) =>
      git(
        root,
        ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'],
        Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(object, 'hex')]),
      );
    const outside = tree(
      '40000',
      '..',
      tree('100644', 'evil', git(root, ['rev-parse', 'HEAD:app/extra.lisp'])),
    );
    const evil = git(root, ['commit-tree', '-m', 'Evil', outside]);
    await expect(put(root.path, evil)).rejects.toThrow(
      `git cannot read the files of ${evil} in ${root.path} (error: invalid path '../evil'). ${INSTEAD}`,
    );
    expect(existsSync(join(root.path, 'evil'))).toBe(false);
  });
});

sandboxTest('the old files are in the box of the other', async () => {
  const root = ownFolder();
  makeRepository(root);
  const session = await ownSession({ args: ['--root', join(root.path, 'app'), '--sandbox', 'strict'] });
  await session.call('load_system', { system: 'shop' });
  const text = await session.text('eval_form', { form: '(load "extra.lisp") (extra)', fresh: 'HEAD' });
  expect(text).toContain('Values:\n [1] T\n-[2] 1\n+[2] 2');
  const form = '(with-open-file (out "/usr/live-lisp-test" :direction :output) 1)';
  const refused = await session.text('eval_form', { form, fresh: 'HEAD' });
  expect(refused).toMatch(/different loads\.\n.*\n\nBoth:\nError: [^\n]*Read-only file system/s);
  expect(remains(session)).toEqual({ images: 1, folders: [] });
});
