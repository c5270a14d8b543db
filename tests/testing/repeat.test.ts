// Tests that run several times in one call: how often each fails, and what ends the runs early.

import { expect, test } from 'vitest';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();
root.put(
  'often.asd',
  `(asdf:defsystem "often" :depends-on ("sb-rt") :components ((:file "often"))
  :perform (asdf:test-op (o c) (uiop:symbol-call :sb-rt :do-tests)))\n`,
);
root.put(
  'often.lisp',
  `(in-package :cl-user)
(defvar *runs* 0)
(defvar *slow* nil)
(sb-rt:deftest fine 1 1)
(sb-rt:deftest flaky (mod (incf *runs*) 3) 1)
(sb-rt:deftest wrong (+ 1 1) 3)
(sb-rt:deftest dice (< (random 4) 3) t)
(sb-rt:deftest slow (and *slow* (= 0 (mod *runs* 3)) (sleep 60)) nil)\n`,
);
const session = sharedSession({ args: ['--root', root.path] });

/** Returns TEXT without its seconds and the lines of DICE. */
const steady = (text: string) =>
  text
    .replace(/\d+\.\d s\)/g, 'N s)')
    .split('\n')
    .filter((line) => !/DICE/.test(line));

test('each failed test is told with its counts, and the failure of its first run', async () => {
  const { text, isError } = await session.call('run_tests', {
    system: 'often',
    repeat: 7,
    seed: 20,
  });
  expect(isError).toBe(true);
  expect(steady(text)).toEqual([
    'often, 7 runs: 3 of 5 tests fail (N s).',
    '  FLAKY often.lisp:5: in 4 of 7 runs, first in run 2, with seed 21: (mod (incf *runs*) 3) = 2, wanted 1',
    '  WRONG often.lisp:6: in all of 7 runs, with seed 20: (+ 1 1) = 2, wanted 3',
  ]);
});

test('the seed that is told makes a test fail again', async () => {
  const dice = { test: 'dice', repeat: 40, seed: 100 };
  const { text } = await session.call('run_tests', dice);
  const [, of, seed] = /in (\d+) of 40 runs, first in run \d+, with seed (\d+): /.exec(text) ?? [];
  expect(Number(of)).toBeLessThan(40);
  const again = await session.call('run_tests', { test: 'dice', seed: Number(seed) });
  expect(again.text).toContain('(< (random 4) 3) = nil, wanted t');
  expect(await session.call('run_tests', dice)).toMatchObject({
    text: expect.stringContaining(`in ${of} of 40 runs`),
  });
});

test('a test that fails in one of the runs counts as failed', async () => {
  await session.eval('(setf *runs* 0)');
  await session.call('run_tests', { test: 'flaky', repeat: 3 });
  expect(await session.text('run_tests', { failed: true })).toContain('FLAKY');
  await session.eval('(setf *runs* 0)');
  const { text } = await session.call('run_tests', { test: 'fine', repeat: 3 });
  expect(steady(text)).toEqual(['fine, 3 runs: 1 test passes (N s).']);
});

/** A busy machine too makes three runs within these seconds. */
const LIMIT = 6;

test('the timeout ends the runs, and the test in which it was over did not fail', async () => {
  await session.eval('(setf *runs* 0 *slow* t)');
  const { text } = await session.call('run_tests', { system: 'often', repeat: 50, timeout: LIMIT });
  expect(text).toContain('\n  WRONG often.lisp:6: in all of 3 runs: (+ 1 1) = 2, wanted 3\n');
  expect(text).toContain(
    '\nOnly 2 of 50 runs were made: the timeout of 6.0 s expired, in SLOW of run 3. A longer timeout allows more.\n',
  );
  expect(text).not.toContain('SLOW often.lisp');
  await session.eval('(setf *slow* nil)');
});

test('with isolate each run goes on after a test that hangs', async () => {
  await session.eval('(setf *runs* 0 *slow* t)');
  const args = { system: 'often', repeat: 4, timeout: LIMIT, isolate: true };
  const { text } = await session.call('run_tests', args);
  expect(text).toContain('\n  SLOW often.lisp:8: in 1 of 4 runs, first in run 3: did not end: ');
  expect(text).not.toContain('were made');
  await session.eval('(setf *slow* nil)');
});

test('a lost image ends the runs', async () => {
  await session.eval('(sb-rt:deftest leave (if (= 0 (random 2)) (sb-ext:exit :code 3 :abort t) 1) 1)');
  const { text } = await session.call('run_tests', { test: 'leave', repeat: 200 });
  expect(text).toMatch(/LEAVE: (?:in 1 of \d+ runs, first in run \d+: )?did not end: the image was lost/);
  expect(text).toMatch(/\nOnly \d+ of 200 runs (?:was|were) made\.(?:\n|$)/);
});
