// The user's world: systems in the workspace, their own source registry, library managers, init files.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  LIBRARIES_AS_COMPILED,
  type Session,
  type StartOptions,
  startSession,
  temporaryFolder,
} from '../harness.ts';
import { libraries } from '../libraries.ts';

libraries('alexandria');

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** Writes TEXT as the file PATH below the test's folder and returns the whole path. */
function write(path: string, text: string): string {
  const file = join(folder.path, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Writes a system NAME into the folder IN below the test's folder, and returns that. */
function system(name: string, into: string): string {
  write(join(into, `${name}.lisp`), `(defvar cl-user::*${name}* :loaded)\n`);
  return dirname(
    write(join(into, `${name}.asd`), `(asdf:defsystem "${name}" :components ((:file "${name}")))\n`),
  );
}

async function withSession<T>(options: StartOptions, use: (session: Session) => Promise<T>): Promise<T> {
  const session = await startSession(options);
  try {
    return await use(session);
  } finally {
    await session.close();
  }
}

/** Expects that a server started with OPTIONS finds each of NAMES. */
async function expectFound(names: string[], options: StartOptions): Promise<void> {
  await withSession(options, async (session) => {
    for (const name of names) {
      expect(await session.text('load_system', { system: name })).toMatch(
        new RegExp(`^Loaded system ${name}\\b`),
      );
      if (name !== 'alexandria') expect(await session.eval(`*${name}*`)).toBe(':LOADED');
    }
  });
}

describe('ASDF finds', () => {
  test('systems in the root and below it, and those of the distribution', async () => {
    const root = system('top', 'root');
    system('deep', 'root/some/where/below');
    await expectFound(['top', 'deep', 'alexandria'], { args: ['--root', root, ...LIBRARIES_AS_COMPILED] });
    await expectFound(['top', 'deep'], { cwd: root });
  });

  test('systems in and below a further root', async () => {
    const [root, further] = [system('mine', 'root'), system('other', 'further')];
    system('far', 'further/below/it');
    await expectFound(['mine', 'other', 'far'], { args: ['--root', root, '--root', further] });
  });

  test('a system in a root with quotes, a semicolon and umlauts in its name', async () => {
    const root = system('odd', 'with "quotes"; äöü');
    await expectFound(['odd'], { args: ['--root', root] });
  });

  // The texts that each root and each value make together are in tests/kernel/setup.test.ts.
  test.each<[string, string, (path: string) => string]>([
    ['plain', 'as a list of folders', (path) => `${path}//`],
    [
      'a:b c',
      'as an s-expression',
      (path) => `(:source-registry (:tree "${path}/") :ignore-inherited-configuration)`,
    ],
  ])('from the root %j also what CL_SOURCE_REGISTRY names %s', async (name, _, registry) => {
    const root = system('mine', name);
    const users = system('theirs', 'elsewhere');
    await expectFound(['mine', 'theirs'], {
      args: ['--root', root],
      env: { CL_SOURCE_REGISTRY: registry(users) },
    });
  });

  test('an empty CL_SOURCE_REGISTRY is none', async () => {
    const root = system('mine', 'root');
    await expectFound(['mine', 'alexandria'], {
      args: ['--root', root, ...LIBRARIES_AS_COMPILED],
      env: { CL_SOURCE_REGISTRY: '' },
    });
  });

  test('the workspace before what CL_SOURCE_REGISTRY names', async () => {
    const root = system('twice', 'root');
    const users = system('twice', 'elsewhere');
    write('elsewhere/twice.lisp', '(defvar cl-user::*twice* :the-wrong-one)\n');
    await expectFound(['twice'], { args: ['--root', root], env: { CL_SOURCE_REGISTRY: `${users}//` } });
  });
});

describe('--init', () => {
  test('loads a file whose definitions last, and which can use the library manager', async () => {
    write(
      'root/.qlot/setup.lisp',
      '(defpackage :ql (:use :cl) (:export #:from-manager))\n(defun ql:from-manager () :manager)\n',
    );
    const init = write(
      'init.lisp',
      '(defvar cl-user::*by* (ql:from-manager))\n(defun cl-user::from-init () :yes)\n',
    );
    const args = ['--root', join(folder.path, 'root'), '--init', init];
    await withSession({ args }, async (session) => {
      expect(await session.call('eval_form', { form: '(list *by* (from-init))' })).toEqual({
        text: '(:MANAGER :YES)',
        notices: [],
        isError: false,
      });
    });
  });

  test('may set the package and the printer of the session', async () => {
    const init = write(
      'init.lisp',
      '(defpackage :home (:use :cl))\n(in-package :home)\n(setf *print-base* 16)\n',
    );
    await withSession({ args: ['--init', init] }, async (session) => {
      // LOAD binds *PACKAGE*, so that stays; other variables are kept.
      expect(await session.eval('(list (package-name *package*) 255)')).toBe('("COMMON-LISP-USER" FF)');
    });
  });

  test('its output and warnings do not disturb the first answer', async () => {
    const init = write(
      'init.lisp',
      '(format t "hello from init~%")\n(defun cl-user::bad-one (x) 1)\n(warn "careful")\n',
    );
    await withSession({ args: ['--init', init] }, async (session) => {
      const { text, isError } = await session.call('eval_form', { form: '(+ 1 2)' });
      expect([text, isError]).toEqual(['3', false]);
    });
  });
});
