// What load_file does with files of all kinds.

import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { recordsFolder } from '../../src/paths.ts';
import { tree } from '../files/workspaces.ts';
import { type Answer, bad, good, temporaryFolder } from '../harness.ts';
import { NUL_IN_PATH } from '../said.ts';
import { until } from '../server/processes.ts';
import { RawServer } from '../server/raw.ts';
import { ownFolder, sharedFolder, sharedSession } from '../shared.ts';

/** What a reader is told to have happened when nothing of FILE was loaded. */
const NOT_LOADED = 'could not be compiled. Its compile-time effects (packages, macros) may be in the image.';

const root = sharedFolder();
const temporary = sharedFolder();
const session = sharedSession({ args: ['--root', root.path], env: { TMPDIR: temporary.path } });

/** The folder for records of servers without a home, which stays among temporary files. */
const RECORDS = basename(recordsFolder('/'));

/** The files in the root, which a load must leave as they were. */
let written: string[] = [];
afterEach(() => {
  expect(tree(root.path).filter((name) => !name.includes('/'))).toEqual([...written].sort());
  expect(readdirSync(temporary.path).filter((name) => name !== RECORDS)).toEqual([]);
  for (const name of written) rmSync(join(root.path, name), { recursive: true });
  written = [];
});

function write(name: string, text: string | Buffer): string {
  const path = join(root.path, name);
  writeFileSync(path, text);
  if (!written.includes(name)) written.push(name);
  return path;
}

function load(path: string): Promise<Answer> {
  return session.call('load_file', { path });
}

/** Writes TEXT as the file NAME, loads it and returns the answer. */
function loadText(name: string, text: string | Buffer): Promise<Answer> {
  write(name, text);
  return load(name);
}

describe('the path', () => {
  test('may be relative to the root, absolute, or lead through other folders', async () => {
    const path = write('plain.lisp', '(defun plain () 1)\n');
    mkdirSync(join(root.path, 'sub'));
    written.push('sub');
    for (const each of ['plain.lisp', 'sub/../plain.lisp', path]) {
      expect(await load(each)).toEqual(good('Loaded plain.lisp'));
    }
    expect(await session.eval('(plain)')).toBe('1');
  });

  test('may have a space, a star, a bracket, a backslash, or characters beyond ASCII', async () => {
    for (const [index, name] of ['a b*[c]?.lisp', 'b\\s äλ𝄞.lisp', 'no-type'].entries()) {
      expect(await loadText(name, `(defun named-${index} () ${index})\n`)).toEqual(good(`Loaded ${name}`));
      expect(await session.eval(`(named-${index})`)).toBe(String(index));
    }
  });

  test('may be a link', async () => {
    const other = temporaryFolder();
    other.put('target.lisp', '(defun linked () :linked)\n');
    symlinkSync(join(other.path, 'target.lisp'), join(root.path, 'link.lisp'));
    written.push('link.lisp');
    expect((await load('link.lisp')).text).toBe('Loaded link.lisp');
    other.remove();
    expect(await session.eval('(linked)')).toBe(':LINKED');
  });

  test('that leads nowhere, to a folder, or has a NUL is an error that says so', async () => {
    mkdirSync(join(root.path, 'folder'));
    written.push('folder');
    expect(await load('missing.lisp')).toEqual(
      bad(`There is no file ${root.path}/missing.lisp. Relative paths start at ${root.path}.`),
    );
    expect(await load('folder')).toEqual(bad(`${root.path}/folder is not a file. Name a Lisp source file.`));
    expect(await load('a\0b.lisp')).toEqual(bad(NUL_IN_PATH));
    expect(await load('')).toEqual(bad(`${root.path} is not a file. Name a Lisp source file.`));
  });
});

describe('a structure that has other slots now', () => {
  test('fits the code of its file, which is loaded once more after the restart', async () => {
    await loadText('shape.lisp', '(defstruct shape a)\n(defun made () (make-shape :a 1))\n');
    write('shape.lisp', '(defstruct shape a b)\n(defun made () (make-shape :a 1 :b 2))\n');
    const { isError } = await session.call('load_file', { path: 'shape.lisp', restarts: ['continue'] });
    expect(isError).toBe(false);
    expect(await session.eval('(list (shape-p (made)) (shape-b (made)))')).toBe('(T 2)');
  });
});

describe('what is told', () => {
  test('warnings that say the same once, with their places', async () => {
    const uses = Array.from({ length: 5 }, (_, at) => `(defun u${at} () *free*)\n`);
    const { text } = await loadText(
      'alike.lisp',
      `${uses.join('')}(defun v () (list *other* (gone-from 1)))\n`,
    );
    expect(text).toBe(
      'Loaded alike.lisp\n\nWarnings (7):\n  alike.lisp\n' +
        '    WARNING (line 1:1, DEFUN U0; line 2:1, DEFUN U1; line 3:1, DEFUN U2; line 4:1, DEFUN U3; line 5:1, DEFUN U4): undefined variable: COMMON-LISP-USER::*FREE*\n' +
        '    WARNING (line 6:13, DEFUN V): undefined variable: COMMON-LISP-USER::*OTHER*\n' +
        '      in (LIST COMMON-LISP-USER::*OTHER* (COMMON-LISP-USER::GONE-FROM 1))\n' +
        '    STYLE-WARNING (line 6:27, DEFUN V): undefined function: COMMON-LISP-USER::GONE-FROM\n' +
        '      in (COMMON-LISP-USER::GONE-FROM 1)',
    );
  });

  test('the first and the last of the much that a file writes that loads', async () => {
    const { text } = await loadText('much.lisp', '(princ "go")(dotimes (i 9999) (princ ".")) (princ "on")\n');
    expect(text).toMatch(/Output:\ngo\.{1998}\n\[\.\.\. 6003 characters left out \.\.\.\]\n\.{1998}on$/);
  });

  test('a form with an error in it: the file is loaded, and the error is told by line', async () => {
    const { text } = await loadText('wrong-form.lisp', '(defun right () 1)\n(defun wrong () (let 5))\n');
    expect(text).toMatch(
      /^Loaded wrong-form\.lisp, but with compile errors \(below\): running that code signals them\.\n/,
    );
    expect(text).toMatch(/\n {4}ERROR \(line 2:17, DEFUN WRONG\): /);
    expect(await session.eval('(right)')).toBe('1');
    expect((await session.call('eval_form', { form: '(wrong)' })).isError).toBe(true);
  });

  test.each([
    ['(defun kept () 1)\n\n(defun open (x)\n  (list x\n', 'the text ends inside this form', 3],
    [
      '(defun kept () 1)\n(defun r ()\n  (list no-such-package::x))\n',
      'Package NO-SUCH-PACKAGE does not exist',
      3,
    ],
  ])('of %j that it cannot be read, why, and at which line; nothing is loaded', async (text, why, line) => {
    await session.eval("(fmakunbound 'kept)");
    const answer = await loadText('unreadable.lisp', text);
    expect(answer.isError).toBe(true);
    expect(answer.text).toMatch(
      new RegExp(`^Not loaded: unreadable\\.lisp ${NOT_LOADED.replace(/[().]/g, '\\$&')}`),
    );
    expect(answer.text).toContain('cannot be read: ');
    expect(answer.text).toContain(why);
    expect(answer.text).toMatch(new RegExp(`line ${line}\\b`));
    expect(await session.eval("(fboundp 'kept)")).toBe('NIL');
  });

  test('an error while it is loaded: the condition, and that the forms before are there', async () => {
    const { text, isError } = await loadText(
      'stops.lisp',
      '(defun before-it () 1)\n(error "at ~a" :load)\n(defun after-it () 2)\n',
    );
    expect(isError).toBe(true);
    expect(text).toMatch(
      /^stops\.lisp was loaded only up to the form where loading stopped\.\n\nError: at LOAD\nType: COMMON-LISP::SIMPLE-ERROR\b/,
    );
    expect(await session.eval("(list (before-it) (fboundp 'after-it))")).toBe('(1 NIL)');
  });

  test('the end of the image: no form is said to be there', async () => {
    const { text } = await loadText('ends.lisp', '(defun before-it () 1)\n(sb-ext:exit :abort t)\n');
    expect(text).toBe(
      'ends.lisp was not loaded to its end.\n\nThe Lisp image was lost during this call: it exited with code 1. The next call gets a new image.',
    );
    await session.call('eval_form', { form: '1' });
  });

  test('an error while it is compiled: no form was loaded, and none is said to be', async () => {
    const answer = await loadText(
      'early.lisp',
      '(defvar *loaded-before* 1)\n(eval-when (:compile-toplevel) (error "at compile time"))\n',
    );
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain('at compile time');
    expect(await session.eval("(boundp '*loaded-before*)")).toBe('NIL');
    expect(answer.text).not.toContain('up to the form where loading stopped');
  });
});

describe('what a load means', () => {
  test('*load-truename* and *load-pathname* are the source', async () => {
    const path = write('truename.lisp', '(defvar *here* (list *load-truename* *load-pathname*))\n');
    await load('truename.lisp');
    const same = `(loop for each in *here* collect (equal (sb-ext:native-namestring each) "${path}"))`;
    expect(await session.eval(same)).toBe('(T T)');
  });

  test('the package of the file is its own', async () => {
    await loadText(
      'packaged.lisp',
      '(defpackage :packaged (:use :cl))\n(in-package :packaged)\n(defun f () :in)\n',
    );
    expect(await session.eval('(list (package-name *package*) (packaged::f))')).toBe(
      '("COMMON-LISP-USER" :IN)',
    );
  });

  test('after an edit, a load brings the new definition and does not speak of redefinitions', async () => {
    await loadText('edited.lisp', '(defun edited () :old)\n');
    expect(await session.eval('(edited)')).toBe(':OLD');
    expect(await loadText('edited.lisp', '(defun edited () :new)\n')).toEqual(good('Loaded edited.lisp'));
    expect(await session.eval('(edited)')).toBe(':NEW');
  });

  test('a definition that came from elsewhere is told to be redefined', async () => {
    await session.eval('(defun typed-in () :typed)');
    const { text } = await loadText('takes-over.lisp', '(defun typed-in () :loaded)\n');
    expect(text).toMatch(/^Loaded takes-over\.lisp\n\nRedefined: .*TYPED-IN/);
    const method = '(defmethod taken-over ((x standard-class) y) (list x y))';
    await session.eval(method);
    expect((await loadText('takes-over.lisp', `${method}\n`)).text).toMatch(
      /\nRedefined: TAKEN-OVER \((COMMON-LISP:)?STANDARD-CLASS (COMMON-LISP:)?T\) in DEFMETHOD/,
    );
  });
});

test('a server that ends while a file is loaded leaves no temporary folder', async () => {
  write(
    'slow.lisp',
    '(with-open-file (s (sb-ext:posix-getenv "BEGUN") :direction :output) s)\n(sleep 100)\n',
  );
  const signal = ownFolder();
  const begun = join(signal.path, 'begun');
  const server = await new RawServer({
    args: ['--root', root.path],
    env: { TMPDIR: temporary.path, BEGUN: begun },
  }).connect();
  server.write(server.callLine('load_file', { path: 'slow.lisp' }).line);
  await until('the load', 10_000, () => existsSync(begun));
  server.end();
  await server.exited;
});
