// A test that is expected to fail, whether a value differs or an error ends it.

import { beforeAll, expect, test } from 'vitest';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();

const SYSTEM = `(asdf:defsystem "expecting" :depends-on ("sb-rt") :components ((:file "expecting"))
  :perform (asdf:test-op (o c) (uiop:symbol-call :sb-rt :do-tests)))\n`;
const TESTS = `(in-package :cl-user)
(sb-rt:deftest fine 1 1)
(sb-rt:deftest differs 1 2)
(sb-rt:deftest signals (error "No.") 1)
(sb-rt:deftest nobody-knew (error "Oh.") 1)
(setf sb-rt::*expected-failures* '(differs signals))\n`;

beforeAll(() => {
  root.put('expecting.asd', SYSTEM);
  root.put('expecting.lisp', TESTS);
});
const session = sharedSession({ args: ['--root', root.path] });

test('is counted as expected in RT, and errors of others are told', async () => {
  const { text, isError } = await session.call('run_tests', { system: 'expecting' });
  expect(isError).toBe(true);
  expect(text).toMatch(/^expecting: 1 of 4 tests fails? \(.*2 failed as expected, .* s\)\.\n/);
  expect(text).toContain('NOBODY-KNEW');
  expect(text).not.toMatch(/SIGNALS|DIFFERS/);
});

test('does not end a run that holds errors, which holds that of another', async () => {
  const { text } = await session.call('run_tests', { system: 'expecting', on_error: 'hold' });
  expect(text).toContain('Oh.');
  expect(text).not.toContain('No.');
});
