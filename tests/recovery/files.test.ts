// What was loaded is loaded again as it was then, or what is other is told; and the journal on the disk may be damaged.

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Session, temporaryFolder } from '../harness.ts';
import { restartedSession } from '../restarted.ts';
import { afterLoss, built, killImage, reported, sessions } from './losses.ts';

const root = temporaryFolder();
const sharedState = temporaryFolder();
let state: ReturnType<typeof temporaryFolder>;
const written = new Set<string>();
beforeEach(() => {
  state = temporaryFolder();
});
afterEach(() => {
  for (const name of written) rmSync(join(root.path, name), { recursive: true, force: true });
  written.clear();
  state.remove();
});
afterAll(() => {
  root.remove();
  sharedState.remove();
});
// Hooks run backwards at the end: a session ends before the folders go that it writes into.
const start = sessions();
/** Starts a new image of the server that those tests share that need no journal of their own. */
const restarted = restartedSession({
  args: ['--root', root.path, '--allow', 'edit_definitions'],
  env: { XDG_STATE_HOME: sharedState.path },
});

function put(name: string, text: string): string {
  const path = join(root.path, name);
  written.add(name.split('/')[0] ?? name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** Starts a server of its own with ARGS, whose journal is in the folder that journalFiles looks into. */
function open(args: string[] = []): Promise<Session> {
  return start({ args: ['--root', root.path, ...args], env: { XDG_STATE_HOME: state.path } });
}

/** Returns the files of all journals, by their names without folders. */
function journalFiles(): { name: string; path: string }[] {
  return readdirSync(state.path, { recursive: true, encoding: 'utf8' })
    .map((path) => ({ name: path.split('/').at(-1) ?? '', path: join(state.path, path) }))
    .filter(({ path }) => path.includes('journals') && statSync(path).isFile());
}

describe('a file that was loaded', () => {
  test('and changed since is built from its old text; what it loads belongs to the files that define that', async () => {
    const session = await restarted();
    put('below.lisp', ';; below\n(defun below () 1)\n(defclass below () ())\n');
    put(
      'below.asd',
      '(defsystem "below" :components ((:file "below-part")))\n(defun cl-user::in-system-file () 1)\n',
    );
    put('below-part.lisp', '\n(defmethod part ((x integer)) 1)\n');
    const rest = `(eval-when (:compile-toplevel :load-toplevel :execute)
      (require :asdf) (load "below.lisp")
      (unless (fboundp 'in-system-file) (asdf:load-asd (truename "below.asd")) (asdf:load-system "below")))\n`;
    put('outer.lisp', `(defun gone () 1)\n${rest}`);
    await session.text('load_file', { path: 'outer.lisp' });
    put('outer.lisp', rest);
    await session.text('restart_image');
    const defined = async (symbol: string) =>
      (await session.text('describe_symbol', { symbol })).match(/Defined: (.*)|methods?.*/g);
    expect(await defined('below')).toEqual(['Defined: below.lisp:2:1', 'Defined: below.lisp:3:1']);
    expect(await defined('in-system-file')).toEqual(['Defined: below.asd:2:1']);
    expect(await session.text('load_file', { path: 'outer.lisp', forget: true })).toContain(
      'In the image but no longer in outer.lisp: function COMMON-LISP-USER::GONE.\n',
    );
    expect(await session.text('load_file', { path: 'outer.lisp', forget: true })).toMatch(
      /Removed, because no longer in the file: function COMMON-LISP-USER::GONE\.$/m,
    );
    expect(await session.eval('(list (below) (in-system-file) (part 3))')).toBe('(1 1 1)');
  });

  test('and is what it was is loaded from its place', async () => {
    const session = await restarted();
    const file = put(
      'a.lisp',
      '(defun a () 1) (defvar *here* (or *load-truename* *compile-file-truename*))\n',
    );
    await session.call('load_file', { path: 'a.lisp' });
    await killImage(session);
    expect(await afterLoss(session, '(list (a) (pathname-name *here*))')).toEqual({
      text: '(1 "a")',
      reported: reported(built(`1 file (${file})`)),
    });
  });

  test('and has changed, or is gone, is loaded as it was', async () => {
    const session = await restarted();
    const file = put('a.lisp', '(defun a () 1)\n');
    await session.call('load_file', { path: 'a.lisp' });
    put('a.lisp', '(defun a () 2)\n');
    await killImage(session);
    expect(await afterLoss(session, '(a)')).toEqual({
      text: '1',
      reported: reported(
        built(`1 file (${file})`),
        'Files changed or gone since they were loaded (1):',
        `  ${file}: has changed since; its old content was loaded again`,
      ),
    });
    rmSync(file);
    await killImage(session);
    expect((await afterLoss(session, '(a)')).reported).toContain(
      `  ${file}: is gone; its old content was loaded again`,
    );
  });

  test('again and again is loaded once, unless an earlier load left something', async () => {
    const session = await restarted();
    const load = async (text: string) => {
      put('a.lisp', `(incf *loads*) ${text}\n`);
      await session.call('load_file', { path: 'a.lisp' });
    };
    await session.eval('(defvar *loads* 0)');
    for (const result of [1, 2, 3]) {
      await load(`(defun a () ${result})`);
      await session.eval('(a)');
    }
    await killImage(session);
    expect((await afterLoss(session, '(list *loads* (a))')).text).toBe('(1 3)');
    // What is in the image and no longer in the file was made by a load of before.
    await load('(defun b () (a))');
    await load('(defun b () (list (a)))');
    await killImage(session);
    expect((await afterLoss(session, '(list *loads* (b))')).text).toBe('(3 (3))');
  });

  test('between evaluations keeps its place, in the package of then', async () => {
    const session = await restarted();
    put(
      'in.lisp',
      '(defvar *v* (list (package-name *package*) (fboundp (quote earlier)) (fboundp (quote later))))\n',
    );
    await session.eval('(defpackage :p (:use :cl)) (in-package :p) (defun earlier () 1)');
    await session.call('load_file', { path: 'in.lisp' });
    await session.eval('(defun later () 1) (in-package :cl-user)');
    await killImage(session);
    expect(await session.eval('p::*v*')).toBe('("P" #<FUNCTION P::EARLIER> NIL)');
  });

  test('whose load failed half-way is loaded that far again', async () => {
    const session = await restarted();
    put('half.lisp', '(defun first-half () 1)\n(error "Stop.")\n(defun second-half () 2)\n');
    expect((await session.call('load_file', { path: 'half.lisp' })).isError).toBe(true);
    await killImage(session);
    expect(await session.eval("(list (first-half) (fboundp 'second-half))")).toBe('(1 NIL)');
  });

  test('with a damaged or missing copy is told, and nothing crashes', async () => {
    const session = await open();
    const [one, two] = [put('one.lisp', '(defun one () 1)\n'), put('two.lisp', '(defun two () 2)\n')];
    await session.call('load_file', { path: 'one.lisp' });
    await session.call('load_file', { path: 'two.lisp' });
    const copies = journalFiles().filter(({ name }) => name.endsWith('.gz'));
    expect(copies).toHaveLength(2);
    for (const { path } of copies) {
      expect(statSync(path).mode & 0o777).toBe(0o600);
      writeFileSync(path, readFileSync(path).subarray(0, 20));
    }
    put('one.lisp', '(defun one () :other)\n');
    rmSync(two);
    await killImage(session);
    const { text, reported: notice } = await afterLoss(session, "(list (one) (fboundp 'two))");
    expect(text).toBe('(:OTHER NIL)');
    expect(notice).toContain(
      `  ${one}: has changed since; its old content was not kept, so the new content was loaded`,
    );
    expect(notice).toContain(`  load_file ${two}: It is gone, and its old content was not kept.`);
  });
});

describe('forms of a file that an edit has loaded', () => {
  const ALLOWED = ['--allow', 'edit_definitions', '--allow', 'restart_image'];

  /** Loads f as 1 in SESSION and edits it to be 2. Returns the file. */
  async function edited(session: Session): Promise<string> {
    const file = put('a.lisp', '(defun f () 1)\n(defun g () (f))\n');
    await session.call('load_file', { path: 'a.lisp' });
    const edits = [{ path: 'a.lisp', definition: 'f', text: '(defun f () 2)' }];
    expect((await session.call('edit_definitions', { edits, load: true })).isError).toBe(false);
    return file;
  }

  test('are loaded again as they were when the file is gone, which is told once', async () => {
    const session = await restarted();
    const file = await edited(session);
    rmSync(file);
    await killImage(session);
    expect(await afterLoss(session, '(g)')).toEqual({
      text: '2',
      reported: reported(
        built(`1 file (${file})`),
        'Files changed or gone since they were loaded (1):',
        `  ${file}: is gone; its old content was loaded again`,
      ),
    });
  });

  test('whose copy is damaged are told, with what is true of the file', async () => {
    const session = await open(ALLOWED);
    const file = await edited(session);
    for (const { path } of journalFiles().filter(({ name }) => name.endsWith('.gz'))) rmSync(path);
    await killImage(session);
    expect((await afterLoss(session, '1')).reported).toContain(
      `  edit_definitions ${file}: Its old content was not kept. Load the file again with load_file.`,
    );
    rmSync(file);
    await killImage(session);
    expect((await afterLoss(session, '1')).reported).toContain(
      `  edit_definitions ${file}: It is gone, and its old content was not kept.`,
    );
  });
});

test('a system is loaded again, and told when one of its files has changed', async () => {
  put('sys/sys.asd', '(asdf:defsystem "sys" :components ((:file "one") (:file "two")))\n');
  put('sys/one.lisp', '(defun cl-user::one () 1)\n');
  put('sys/two.lisp', '(defun cl-user::two () 2)\n');
  const session = await restarted();
  await session.call('load_system', { system: 'sys' });
  await session.eval('(defun three () (+ (one) (two)))');
  await session.text('describe_symbol', { symbol: 'three' });
  await killImage(session);
  const first = await afterLoss(session, '(three)');
  expect([first.text, first.reported]).toEqual(['3', reported(built('1 form, 1 system (sys)'))]);
  put('sys/two.lisp', '(defun cl-user::two () 20)\n');
  await killImage(session);
  const second = await afterLoss(session, '(three)');
  expect(second.text).toBe('21');
  expect(second.reported).toContain(
    '  system sys: one of its files has changed since; the new content was loaded',
  );
});

test('a system that was loaded again after its files had changed has not changed since', async () => {
  put('anew/anew.asd', '(asdf:defsystem "anew" :components ((:file "one")))\n');
  put('anew/one.lisp', '(defun cl-user::one () 1)\n');
  const session = await restarted();
  await session.call('load_system', { system: 'anew' });
  await session.eval('(defun three () (+ (one) 2))');
  put('anew/one.lisp', '(defun cl-user::one () 10)\n');
  await session.call('load_system', { system: 'anew' });
  await session.text('describe_symbol', { symbol: 'three' });
  await killImage(session);
  const after = await afterLoss(session, '(three)');
  expect([after.text, after.reported]).toEqual(['12', reported(built('1 form, 1 system (anew)'))]);
});

test('a system that needs one that was not found was not loaded, and is not told to be lost', async () => {
  put('needing/needing.asd', '(asdf:defsystem "needing" :depends-on ("no-such-system"))\n');
  const session = await restarted();
  expect((await session.call('load_system', { system: 'needing' })).isError).toBe(true);
  await session.eval('(defun one () 1)');
  await killImage(session);
  const loss = await afterLoss(session, '(one)');
  expect([loss.text, loss.reported]).toEqual(['1', reported(built('1 form'))]);
});

describe('the journal on the disk', () => {
  test('is private, and a folder a server', async () => {
    const session = await open();
    await session.eval('(defun f () 1)');
    const [file] = journalFiles();
    expect(file?.name).toBe('journal.jsonl');
    expect(statSync(file?.path ?? '').mode & 0o777).toBe(0o600);
    expect(readFileSync(file?.path ?? '', 'utf8')).toBe(
      '{"kind":"form","text":"(defun f () 1)","package":"COMMON-LISP-USER"}\n',
    );
  });

  test('without an evaluation that defines there is none, nor with --replay off', async () => {
    await (await open()).eval('(+ 1 2)');
    await (await open(['--replay', 'off'])).eval('(defun f () 1)');
    expect(journalFiles()).toEqual([]);
  });

  test('that cannot be written is told once, and the image is built again from memory', async () => {
    mkdirSync(join(state.path, 'live-lisp'));
    writeFileSync(join(state.path, 'live-lisp', 'journals'), 'no folder');
    const session = await open(['--audit', join(root.path, 'records', 'audit.jsonl')]);
    const file = put('a.lisp', '(defun a () 1)\n');
    const first = await session.call('eval_form', { form: '(defun f () 1)' });
    expect(first.notices.join('\n')).toMatch(
      /^Note: the journal cannot be written \(.+\)\. This server can still rebuild a lost image, from memory; a later server cannot\.$/,
    );
    expect((await session.call('eval_form', { form: '(defun g () 2)' })).notices).toEqual([]);
    await session.call('load_file', { path: 'a.lisp' });
    rmSync(file);
    await killImage(session);
    const { text, reported: notice } = await afterLoss(session, '(list (f) (g) (a))');
    expect(text).toBe('(1 2 1)');
    expect(notice).toContain('is gone; its old content was loaded again');
    expect(notice).not.toContain('cannot be written');
  });

  test('with damaged lines is built again as far as it can be read, and that is told', async () => {
    const first = await open();
    await first.eval('(defun f () 1) (defun g () 2) (defun h () 3)');
    await first.close();
    const [file] = journalFiles();
    const lines = readFileSync(file?.path ?? '', 'utf8').split('\n');
    const odd = [
      '{"kind":"form","text":"(defun k () 4)","package":"COMMON-LISP-USER","without":[["x"],7],"policy":5}',
      '{"kind":"form","text":"(error \\"Odd.\\")","package":"COMMON-LISP-USER","restarts":5}',
    ];
    writeFileSync(
      file?.path ?? '',
      ['garbage \u0000', lines[0], '{"kind":"form"}', lines[1], ...odd, lines[2]?.slice(0, 30)].join('\n'),
    );
    const session = await open(['--allow', 'restart_image']);
    const text = await session.text('restart_image', { rebuild: 'previous' });
    expect(text).toContain('\n3 lines of the journal could not be read, so the steps in them are missing.');
    expect(await session.eval("(list (f) (g) (fboundp 'h))")).toBe('(1 2 NIL)');
  });
});
