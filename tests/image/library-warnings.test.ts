// What a load tells of libraries: their style warnings are counted, and ASDF says nothing of the files that it compiles.

import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';

const root = temporaryFolder();
const libraries = temporaryFolder();
const cache = temporaryFolder();
let session: Session;

const defsystem = (name: string, more: string) =>
  `(asdf:defsystem "${name}" :components ((:file "${name}")) ${more})\n`;

beforeAll(async () => {
  writeFileSync(join(libraries.path, 'lib.asd'), defsystem('lib', ''));
  writeFileSync(join(libraries.path, 'lib.lisp'), '(defun lib (x) 1)\n(defun more () (lib-undefined))\n');
  mkdirSync(join(root.path, 'program'));
  writeFileSync(join(root.path, 'program', 'program.asd'), defsystem('program', ':depends-on ("lib")'));
  writeFileSync(join(root.path, 'program', 'program.lisp'), '(defun program (y) 1)\n');
  session = await startSession({ args: ['--root', root.path], env: { XDG_CACHE_HOME: cache.path } });
  await session.eval(`(push #p"${libraries.path}/" asdf:*central-registry*) nil`);
});
afterAll(async () => {
  await session.close();
  for (const folder of [root, libraries, cache]) folder.remove();
});

const load = async (system: string, more = {}) =>
  (await session.call('load_system', { system, ...more })).text;

describe('style warnings', () => {
  test('of libraries are counted, those of the program are told', async () => {
    expect(await load('program')).toBe(
      'Loaded system program, with lib\n\nWarnings (1):\n  program/program.lisp\n' +
        '    STYLE-WARNING (line 1, DEFUN PROGRAM): The variable Y is defined but never used.\n\n' +
        'Left out: 2 style warnings in libraries. load_system of a library with force: true tells its own.',
    );
  });

  test('of the library that was named are told', async () => {
    const text = await load('lib', { force: true });
    expect(text).toContain('The variable X is defined but never used.');
    expect(text).toContain('LIB-UNDEFINED');
    expect(text).not.toContain('Left out');
  });

  test('of which a library has one are told so', async () => {
    const file = join(libraries.path, 'lib.lisp');
    writeFileSync(file, '(defun lib (x) 1)\n');
    const later = new Date(Date.now() + 5000);
    utimesSync(file, later, later);
    expect(await load('program')).toContain(
      'Left out: 1 style warning in libraries. load_system of a library with force: true tells its own.',
    );
  });
});

test('what ASDF says of the files that it compiles is no part of the answer to a form', async () => {
  const form = '(asdf:load-system "lib" :force t)';
  expect(await session.text('eval_form', { form })).not.toContain('compil');
});
