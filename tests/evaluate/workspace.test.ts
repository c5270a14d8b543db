// The user's world: systems in the workspace, their own source registry, library managers, init files.

import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  good,
  LIBRARIES_AS_COMPILED,
  type Session,
  type StartOptions,
  temporaryFolder,
  warmCache,
} from '../harness.ts';
import { libraries } from '../libraries.ts';
import { ownSession, sharedFolder } from '../shared.ts';

libraries('alexandria');

/** One cache for all, so that a system of the distribution is compiled once. */
const cache = sharedFolder();
warmCache(cache.path);

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** Writes TEXT as the file PATH below the test's folder and returns the whole path. */
const write = (path: string, text: string) => folder.put(path, text);

/** Writes a system NAME into the folder IN below the test's folder, and returns that. */
function system(name: string, into: string): string {
  write(join(into, `${name}.lisp`), `(defvar cl-user::*${name}* :loaded)\n`);
  return dirname(
    write(join(into, `${name}.asd`), `(asdf:defsystem "${name}" :components ((:file "${name}")))\n`),
  );
}

async function withSession<T>(options: StartOptions, use: (session: Session) => Promise<T>): Promise<T> {
  const session = await ownSession({
    ...options,
    env: { XDG_CACHE_HOME: cache.path, ...options.env },
  });
  return await use(session);
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
  test('systems beside and below files whose names are not UTF-8, and those with other letters', async () => {
    system('depot', 'app/élan');
    system('wharf', 'app');
    system('gâteau', 'app');
    for (const at of ['app', 'app/élan'])
      writeFileSync(Buffer.concat([Buffer.from(`${join(folder.path, at)}/`), Buffer.from([0x62, 0xff])]), '');
    await withSession({ cwd: join(folder.path, 'app') }, async (session) => {
      for (const name of ['depot', 'wharf', 'gâteau'])
        expect(await session.text('load_system', { system: name })).toBe(`Loaded system ${name}`);
      // A program lists such a folder as in a plain SBCL.
      const error = await session.text('eval_form', { form: '(directory "*.*")' });
      expect(error).toContain('c-string decoding error');
    });
  });

  test('systems in and below each root, and those of the distribution, also where CL_SOURCE_REGISTRY is empty', async () => {
    const [root, further] = [system('mine', 'root'), system('other', 'further')];
    system('deep', 'root/some/where/below');
    system('far', 'further/below/it');
    await expectFound(['mine', 'deep', 'other', 'far', 'alexandria'], {
      args: ['--root', root, '--root', further, ...LIBRARIES_AS_COMPILED],
      env: { CL_SOURCE_REGISTRY: '' },
    });
  });

  // The texts that each root and each value make together are in tests/kernel/setup.test.ts.
  test('also what CL_SOURCE_REGISTRY names, after a workspace with an odd name', async () => {
    const root = system('mine', 'a:b c');
    const users = system('theirs', 'elsewhere');
    system('twice', 'a:b c');
    system('twice', 'elsewhere');
    write('elsewhere/twice.lisp', '(defvar cl-user::*twice* :the-wrong-one)\n');
    await expectFound(['mine', 'theirs', 'twice'], {
      args: ['--root', root],
      env: {
        CL_SOURCE_REGISTRY: `(:source-registry (:tree "${users}/") :ignore-inherited-configuration)`,
      },
    });
  });
});

test('--init loads a file that can use the library manager and set the printer, and whose output disturbs no answer', async () => {
  write(
    'root/.qlot/setup.lisp',
    '(defpackage :ql (:use :cl) (:export #:from-manager))\n(defun ql:from-manager () :manager)\n',
  );
  const init = write(
    'init.lisp',
    `(defvar cl-user::*by* (ql:from-manager))
(defun cl-user::from-init () :yes)
(format t "hello from init~%")
(defun cl-user::bad-one (x) 1)
(warn "careful")
(defpackage :home (:use :cl))
(in-package :home)
(setf *print-base* 16)
`,
  );
  const args = ['--root', join(folder.path, 'root'), '--init', init];
  await withSession({ args }, async (session) => {
    expect(await session.call('eval_form', { form: '(list *by* (from-init))' })).toEqual(
      good('(:MANAGER :YES)'),
    );
    // LOAD binds *PACKAGE*, so that stays; other variables are kept.
    expect(await session.eval('(list (package-name *package*) 255)')).toBe('("COMMON-LISP-USER" FF)');
  });
});
