// A system of which the tests need one that ASDF does not find: what is told, and what is done all the same.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { startSession, temporaryFolder } from '../harness.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();

const WHERE =
  "No system has a similar name. ASDF looks in the workspace, the distribution's Lisp libraries and the user's source registry. No library manager is in use; Quicklisp, qlot or ocicl is used if set up.";

/** Writes the system NAME, whose tests need a framework that is not there. TESTED says how it is tested. */
function write(name: string, tested: string): void {
  mkdirSync(join(root.path, name));
  const put = (file: string, text: string) => writeFileSync(join(root.path, name, file), text);
  put(
    `${name}.asd`,
    `(asdf:defsystem "${name}" :components ((:file "${name}")) ${tested})
(asdf:defsystem "${name}/tests" :depends-on ("${name}" "zzqframework") :components ((:file "tests")))\n`,
  );
  put(`${name}.lisp`, `(defun ${name} () 1)\n`);
  put('tests.lisp', '(print 1)\n');
}

/** Returns the arguments by which FORM is evaluated afterwards. */
const AFTERWARDS = (form: string) => Object.fromEntries([['then', [form]]]);

beforeAll(() => {
  write('before', ':in-order-to ((asdf:test-op (asdf:test-op "before/tests")))');
  write('within', ':perform (asdf:test-op (o c) (asdf:load-system "within/tests"))');
});
const session = sharedSession({
  args: ['--root', root.path],
  onQuestion: () => ({ action: 'accept', content: { decision: 'approve' } }),
});

test('is told in a sentence, whether the definition of the system says it or the test does', async () => {
  expect(await session.call('run_tests', { system: 'before' })).toMatchObject({
    text: `No tests ran. System before/tests was not loaded: before/tests needs zzqframework, which ASDF cannot find. ${WHERE}`,
    isError: true,
  });
  expect(await session.call('run_tests', { system: 'within' })).toMatchObject({
    text: `No tests ran. System within was not tested: within/tests needs zzqframework, which ASDF cannot find. ${WHERE}`,
    isError: true,
  });
});

test('is told of a definition that cannot be read without it, named or not', async () => {
  const alone = temporaryFolder();
  const needing = '(asdf:defsystem "needing" :defsystem-depends-on ("zzqframework"))\n';
  alone.put('needing.asd', needing);
  const other = await startSession({ args: ['--root', alone.path] });
  const needs = `needing.asd needs zzqframework, which ASDF cannot find. ${WHERE}`;
  try {
    expect(await other.text('run_tests', {})).toBe(`No tests ran. System needing was not tested: ${needs}`);
    expect(await other.text('run_tests', { system: 'needing' })).toBe(
      `System needing was not loaded: ${needs}`,
    );
    expect(await other.text('load_system', { system: 'needing' })).toBe(
      `System needing was not loaded: ${needs}`,
    );
  } finally {
    await other.close();
    alone.remove();
  }
});

test('edits are made and loaded, and forms are evaluated', async () => {
  const { text, isError } = await session.call('run_tests', {
    system: 'before',
    edits: [{ definition: 'before', path: 'before/before.lisp', old: '1', new: '2' }],
    ...AFTERWARDS('(before)'),
  });
  expect(isError).toBe(true);
  expect(text).toMatch(/^No tests ran\. .*\n\nChanged .*\n\nThen:\n2$/s);
});

test('the tests of a system that does not name them are told where they may be, until they are loaded', async () => {
  const kept = temporaryFolder();
  kept.put(
    'kept.asd',
    `(asdf:defsystem "kept")
(asdf:defsystem "kept/tests" :depends-on ("kept" "sb-rt") :components ((:file "tests")))
(asdf:defsystem "kept/more" :depends-on ("kept" "zzqframework"))\n`,
  );
  kept.put('tests.lisp', '(sb-rt:deftest five 5 5)\n');
  const other = await startSession({ args: ['--root', kept.path] });
  try {
    expect(await other.text('run_tests', { system: 'kept' })).toBe(
      'No tests ran: testing kept runs none and prints nothing. Systems kept/more, kept/tests depend on it and are not loaded. If the tests are there, call run_tests with system: "kept/more".',
    );
    expect(await other.text('run_tests', { system: 'kept/tests' })).toBe(
      "No tests ran: testing kept/tests runs none and prints nothing. Packages with tests: COMMON-LISP-USER (1); give 'package' or 'test'.",
    );
    expect(await other.text('run_tests', { system: 'kept' })).toBe(
      "No tests ran: testing kept runs none and prints nothing. System kept/more depends on it and is not loaded. If the tests are there, call run_tests with system: \"kept/more\". Packages with tests: COMMON-LISP-USER (1); give 'package' or 'test'.",
    );
  } finally {
    await other.close();
    kept.remove();
  }
});

test('forms are evaluated when nothing is to be tested', async () => {
  const empty = temporaryFolder();
  const other = await startSession({ args: ['--root', empty.path] });
  try {
    const { text, isError } = await other.call('run_tests', AFTERWARDS('(+ 1 2)'));
    expect(isError).toBe(true);
    expect(text).toMatch(/^No system of the workspace defines a test operation, .*\n\nThen:\n3$/s);
  } finally {
    await other.close();
    empty.remove();
  }
});
