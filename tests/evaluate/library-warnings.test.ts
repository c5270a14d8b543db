// What a load leaves out: style warnings of libraries, what ASDF says of files, and calls that fit once all is loaded.

import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { warmCache } from '../harness.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();
const libraries = sharedFolder();
const cache = sharedFolder();

const defsystem = (name: string, more: string) =>
  `(asdf:defsystem "${name}" :components ((:file "${name}")) ${more})\n`;

beforeAll(() => {
  libraries.put('lib.asd', defsystem('lib', ''));
  libraries.put('lib.lisp', '(defun lib (x) 1)\n(defun more () (lib-undefined))\n');
  root.put('program/program.asd', defsystem('program', ':depends-on ("lib")'));
  root.put('program/program.lisp', '(defun program (y) 1)\n');
  warmCache(cache.path);
});
const session = sharedSession({ args: ['--root', root.path], env: { XDG_CACHE_HOME: cache.path } });
beforeAll(async () => {
  await session.eval(`(push #p"${libraries.path}/" asdf:*central-registry*) nil`);
});

const load = async (system: string, more = {}) =>
  (await session.call('load_system', { system, ...more })).text;

describe('style warnings', () => {
  test('of libraries are counted, those of the program are told', async () => {
    expect(await load('program')).toBe(
      'Loaded system program, with lib\n\nWarnings (1):\n  program/program.lisp\n' +
        '    STYLE-WARNING (line 1:1, DEFUN PROGRAM): The variable Y is defined but never used.\n\n' +
        'Left out: 2 style warnings in libraries. load_system with force: true shows the warnings of a library.',
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
    // How to see them was told before.
    expect(await load('program')).toMatch(/\n\nLeft out: 1 style warning in libraries\.$/);
  });
});

describe('an evaluated form that loads a library', () => {
  const left = (count: string) =>
    `Left out: ${count} in files outside the workspace. load_system of a library with force: true shows its warnings.`;

  test('counts the warnings of its files, and tells those of the program and of the form', async () => {
    libraries.put('lib.lisp', '(defun lib (x) 1)\n(defun more () (lib-undefined))\n');
    const form = '(asdf:load-system "program" :force :all)\n(defun warned (z) nil)';
    const text = await session.text('eval_form', { form });
    expect(text).toContain('Warnings (2):\n');
    expect(text).toContain('The variable Y is defined but never used.');
    expect(text).toContain('The variable Z is defined but never used.');
    expect(text).toMatch(new RegExp(`${left('2 warnings')}$`));
  });

  test('counts one warning so, and no notes of the compiler about files', async () => {
    const fast = '(declaim (optimize speed))\n(defun lib (x) (+ 1 2))\n(defun added (a b) (+ a b))\n';
    libraries.put('lib.lisp', fast);
    const text = await session.text('eval_form', { form: '(asdf:load-system "lib" :force t)' });
    expect(text.split('\n\n')).toEqual(['T', left('1 warning')]);
  });
});

describe('a call that is compiled before the function that it calls is replaced', () => {
  const change = (name: string, text: string, seconds: number) => {
    const file = join(root.path, 'calls', `${name}.lisp`);
    writeFileSync(file, text);
    const later = new Date(Date.now() + seconds * 1000);
    utimesSync(file, later, later);
  };
  const write = (callers: string, callees: string, seconds: number) => {
    change('callers', callers, seconds);
    change('callees', callees, seconds);
  };

  test('is warned about only when it does not fit the new one', async () => {
    const first = '(defun callee (x) x)\n(defun keyed (x &key old) (list x old))\n';
    const callees = '(defun callee (x y) (list x y))\n(defun keyed (x &key new) (list x new))\n';
    const callers = '(defun one (x) (callee x nil))\n(defun two (x) (keyed x :new 1))\n';
    mkdirSync(join(root.path, 'calls'));
    root.put(
      'calls/calls.asd',
      '(asdf:defsystem "calls" :serial t :components ((:file "callers") (:file "callees")))\n',
    );
    write('(defun one (x) (callee x))\n(defun two (x) (keyed x :old 1))\n', first, 0);
    expect(await load('calls')).toBe('Loaded system calls');
    write(callers, callees, 5);
    expect(await load('calls')).toBe('System calls was loaded already; changed files were loaded again.');
    write(
      '(defun one (x) (callee x nil nil))\n(defun two (x) (keyed x :odd 1))\n',
      '(defun callee (x y z more) (list x y z more))\n(defun keyed (x &key newer) (list x newer))\n',
      10,
    );
    expect(await load('calls')).toBe(
      'System calls was loaded already; changed files were loaded again.\n\nWarnings (2):\n' +
        '  calls/callers.lisp\n' +
        '    STYLE-WARNING (line 1:16, DEFUN ONE): The function CALLEE is called with three arguments, but wants exactly four.\n' +
        '      in (COMMON-LISP-USER::CALLEE COMMON-LISP-USER::X NIL NIL)\n' +
        '    STYLE-WARNING (line 2:16, DEFUN TWO): :ODD is not a known argument keyword.\n' +
        '      in (COMMON-LISP-USER::KEYED COMMON-LISP-USER::X :ODD 1)',
    );
  });
});
