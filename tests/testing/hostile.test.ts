// Tests that never end, end their thread or their image, or are of nobody's framework; and what a run says of its loads.

import { statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Answer, LIBRARIES_AS_COMPILED } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { sharedFolder, sharedSession } from '../shared.ts';
import { write } from './workspaces.ts';

libraries('fiveam', 'rt');

/** The limit of a run with a test that never ends. A busy machine too begins that test within these seconds. */
const LIMIT = 10;

const root = sharedFolder();
beforeAll(() => {
  write(root.path, {
    'all.asd': `(defsystem "all")
(defsystem "hostile" :depends-on ("fiveam") :components ((:file "hostile")))
(defsystem "own" :perform (test-op (o c) (format t "~&2 of 3 pass.~%")))
(defsystem "none" :perform (test-op (o c)))
(defsystem "alone")
(defsystem "false" :perform (test-op (o c) nil))
(defsystem "through" :in-order-to ((test-op (test-op "none"))))
(defsystem "failing" :perform (test-op (o c) (error "It is broken.")))
(defsystem "behind" :depends-on ("sb-rt") :components ((:file "behind"))
  :perform (test-op (o c) (uiop:symbol-call :sb-rt :do-tests) (error "Tests failed.")))
(defsystem "unread" :components ((:file "unread")) :perform (test-op (o c)))
(defsystem "callers" :depends-on ("fiveam") :components ((:file "callers")))
(defsystem "stops" :depends-on ("fiveam") :components ((:file "stops")))
(defsystem "mixed" :in-order-to ((test-op (test-op "late/inner") (test-op "own"))))
(defsystem "late" :perform (test-op (o c) (asdf:test-system "late/inner")))
(defsystem "late/inner" :depends-on ("rt") :components ((:file "late"))
  :perform (test-op (o c) (uiop:symbol-call :rt :do-tests)))
(defsystem "random" :depends-on ("sb-rt")
  :components ((:module "inner" :pathname "" :components ((:file "random")))))
`,
    'hostile.lisp': `(defpackage hostile (:use cl fiveam))
(in-package hostile)
(def-suite hostile)
(test (hangs :suite nil) (princ "Waiting.") (loop (sleep 0.05)))
(in-suite hostile)
(test first-one (is (= 1 1)))
(test exits (sb-ext:exit :code 3))
(test ends-thread (sb-thread:abort-thread))
(test fills-heap (let ((all '())) (loop (push (make-array 1000000) all))))
(test recurs (labels ((down (n) (1+ (down (1+ n))))) (is (= 1 (down 1)))))
(test aborts (sb-alien:alien-funcall (sb-alien:extern-alien "abort" (function sb-alien:void))))
(test throws (throw 'nowhere 1))
(test prints (dotimes (n 100000) (princ "Much. ")) (is (= 1 2)))
(test skips (skip "not now"))
(test many (dotimes (n 1000) (is (= n -1))))
(test last-one (is (= 1 1)))
`,
    'behind.lisp': '(in-package :sb-rt)\n(deftest behind.one (+ 1 1) 2)\n',
    'callers.lisp': `(defpackage callers (:use cl fiveam))
(in-package callers)
(test before (is (= 1 1)))
(test stuck (loop (sleep 0.05)))
(test behind (is (= 1 2)))
(test all (run 'before) (run 'stuck) (run 'behind))
`,
    'late.lisp': '(in-package :rt)\n(deftest late.one 1 1)\n',
    'stops.lisp': `(defpackage stops (:use cl fiveam))
(in-package stops)
(def-suite stops)
(in-suite stops)
(test before (is (= 1 1)))
(test fails (error "Not so."))
(test stuck (loop (sleep 0.05)))
(test behind (is (= 1 2)))
`,
    'unread.lisp': '(defun unread (',
    'random.lisp':
      '(in-package :sb-rt)\n(defun most () 1000000)\n(deftest before (random (most)) :none)\n(deftest chance (random (most)) :none)\n',
  });
});
const session = sharedSession({ args: ['--root', root.path, '--heap', '512MB', ...LIBRARIES_AS_COMPILED] });

async function run(args: Record<string, unknown>): Promise<Answer> {
  const answer = await session.call('run_tests', args);
  return { ...answer, text: answer.text.replace(/\d+\.\d s\)\./g, 'N s).') };
}

test('tests without a known framework have the end of the test operation as verdict', async () => {
  const ended = (system: string) =>
    `The test operation of ${system} ended without an error. live-lisp recognized no tests in it, so none are counted, and a failure that was only printed or returned is not detected.`;
  expect(await run({ system: 'own' })).toEqual({
    text: `${ended('own')}\n\nIts output ends:\n2 of 3 pass.`,
    notices: [],
    isError: false,
  });
  for (const [system, tested] of [
    ['none', 'none'],
    ['false', 'false'],
    ['through', 'none'],
  ] as const)
    expect(await run({ system })).toEqual({ text: ended(tested), notices: [], isError: false });
  expect(await run({ system: 'alone' })).toEqual({
    text: 'No tests ran: testing alone runs none and prints nothing.',
    notices: [],
    isError: true,
  });
  const { text, isError } = await run({ system: 'failing' });
  expect(isError).toBe(true);
  expect(text).toMatch(
    /^The tests of failing failed: the test operation signalled this condition\. live-lisp had recognized no tests, so none are counted\.\n\nError: It is broken\./,
  );
  // ASDF evaluates a test-op, so SBCL knows its file, but no place in that.
  expect(text).toMatch(/ {2}all\.asd$/m);
});

test('a framework that a test-op itself loads is known', async () => {
  expect((await run({ system: 'late' })).text).toBe('late: 1 test passes (N s).');
});

test('failures that are not told are counted, each once', async () => {
  await session.text('load_system', { system: 'hostile' });
  const end = async (args: object) => (await run({ test: 'many', ...args })).text.split('\n').at(-1);
  // Of one check three are told.
  expect(await end({})).toBe('    997 more failures');
  expect(await end({ limit: 2 })).toBe('  ... 998 more; limit shows more');
});

test('what did not run behind a test that was left is told, also when an error was held', async () => {
  await session.text('load_system', { system: 'stops' });
  const held = await run({ test: 'stops::stops', isolate: true, on_error: 'hold' });
  const [, error] = /Held as error (\d+)/.exec(held.text) ?? [];
  const { text } = await session.call('debug', { error: Number(error), restart: 'IGNORE', timeout: LIMIT });
  expect(text).toMatch(/^stops::stops: 2 of 3 tests fail \(.*\n {2}FAILS /);
  expect(text).toContain(
    '\nThe run ended there: isolate: true has no effect while an error is held in the debugger.\n',
  );
  const explained = await run({ test: 'stops::stops', on_error: 'hold' });
  const [, next] = /Held as error (\d+)/.exec(explained.text) ?? [];
  expect(await session.text('debug', { error: Number(next), restart: 'EXPLAIN' })).toContain(
    '\nTests after one that ended early may not have run.',
  );
});

test('a file is told that has changed and is of no tested system: its tests ran without the change', async () => {
  write(root.path, { 'alone.lisp': '(defun alone () 1)\n' });
  await session.text('load_file', { path: 'alone.lisp' });
  expect((await run({ system: 'mixed' })).text).not.toContain('alone');
  write(root.path, { 'alone.lisp': '(defun alone () 2)\n' });
  expect((await run({ system: 'mixed' })).text).toMatch(
    /\nChanged, but in no tested system, so not loaded: alone\.lisp\. load_file loads it\.$/,
  );
  await session.text('load_file', { path: 'alone.lisp' });
  expect((await run({ system: 'mixed' })).text).not.toContain('alone');
});

test('a system whose tests are of no framework is told beside those that are', async () => {
  expect(await run({ system: 'mixed' })).toEqual({
    text: 'mixed: 1 test passes (N s).\nNo tests recognized in: own. run_tests with only that system shows its output.',
    notices: [],
    isError: false,
  });
});

test('a system that the tests of another only load has its own tests run', async () => {
  write(join(root.path, 'loaded'), {
    'loaded.asd': `(defsystem "loaded" :perform (test-op (o c)))
(defsystem "loads" :in-order-to ((test-op (load-op "loaded"))) :perform (test-op (o c)))
(defsystem "tests" :in-order-to ((test-op (test-op "loads"))))
`,
  });
  expect(
    await session.eval(`(live-lisp.evaluate::call-finding-all (lambda () (live-lisp.evaluate::scan-systems :again t)
      (mapcar #'asdf:component-name (live-lisp.tests::systems-to-test "${root.path}/loaded/"))))`),
  ).toBe('("loaded" "tests")');
});

test('an error of a test-op after its tests is told', async () => {
  expect(await run({ system: 'behind' })).toEqual({
    text: 'behind: 1 test passes (N s).\nAfter its tests the run signalled SIMPLE-ERROR: Tests failed.',
    notices: [],
    isError: true,
  });
});

test('no test runs when what they test cannot be loaded', async () => {
  const { text, isError } = await run({ system: 'unread' });
  expect(isError).toBe(true);
  expect(text).toMatch(/^No tests ran\. System unread was not loaded to its end\./);
  expect(text).toContain('unread.lisp');
});

test('a test has the same random numbers alone and behind others, and other ones than those', async () => {
  await session.text('load_system', { system: 'random' });
  const numbers = async (args: object) =>
    [...(await run({ ...args, seed: 7 })).text.matchAll(/= (\d+), wanted/g)].map(([, number]) => number);
  const [before, chance] = await numbers({ package: 'sb-rt' });
  expect(await numbers({ test: 'chance' })).toEqual([chance]);
  expect(before).not.toBe(chance);
});

test('a test that is not left by itself is told, and the others run when that is asked for', async () => {
  await session.text('load_system', { system: 'hostile' });
  const alone = await run({ test: 'hangs', timeout: LIMIT });
  expect(alone.text).toMatch(
    /^hangs: 1 of 1 test fails \(N s\)\.\n {2}HANGS hostile\.lisp:4: did not end: the run was interrupted after \d+\.\d s, past its limit\n {4}wrote: Waiting\.\n\nIt was at:\n/,
  );
  const { text, isError } = await run({ test: 'hostile::hostile', isolate: true });
  expect(isError).toBe(true);
  const lines = text.split('\n\n')[0]?.split('\n') ?? [];
  expect(lines[0]).toBe('hostile::hostile: 8 of 11 tests fail (1006 checks, 1 skipped, N s).');
  const reported = (name: string) => lines.find((line) => line.startsWith(`  ${name}`));
  for (const [name, what] of [
    ['EXITS', 'did not end: the image was lost: it exited with code 3'],
    ['ENDS-THREAD', 'did not end: its thread was ended by the code that ran in it'],
    ['FILLS-HEAP', 'did not end: it was about to exhaust the heap'],
    ['RECURS', 'CONTROL-STACK-EXHAUSTED'],
    ['ABORTS', 'did not end: the image was lost: its runtime gave up: SIGABRT received'],
    ['THROWS', 'CONTROL-ERROR: attempt to THROW to a tag that does not exist'],
  ] as const) {
    expect(reported(name)).toContain(what);
  }
  // Of each check three failures are told, of each test a bounded part, and of what it wrote the end.
  expect(text).toMatch(/ {2}PRINTS [^\n]*\n {4}wrote: \.\.\. [^\n]{300}\n/);
  expect(text).toMatch(/^ {4}997 more failures$/m);
  expect(text.length).toBeLessThan(6000);
});

test('a test that calls others goes on behind one that does not end', async () => {
  await session.text('load_system', { system: 'callers' });
  const { text } = await run({ test: 'callers::all', isolate: true, timeout: LIMIT });
  expect(text).toMatch(
    /^callers::all: 2 of 4 tests fail \(2 checks, N s\)\.\n {2}STUCK \S+: did not end: the run was interrupted after [^\n]+\n {2}BEHIND callers\.lisp:5: /,
  );
});

test('what changed within a second of its fasl is loaded, also in a system that the tests need', async () => {
  const asd =
    '(defsystem "needed" :depends-on ("sb-rt") :components ((:file "needed")))\n(defsystem "needed/tests" :depends-on ("needed") :components ((:file "needs")))\n';
  const needed = (count: number) => `(in-package :sb-rt)\n(defun needed-count () ${count})\n`;
  write(root.path, {
    'needed.asd': asd,
    'needed.lisp': needed(1),
    'needs.lisp': '(in-package :sb-rt)\n(deftest needs (needed-count) 2)\n',
  });
  expect((await run({ system: 'needed/tests', test: 'needs' })).text).toContain(' 1 of 1 test fails');
  const file = join(root.path, 'needed.lisp');
  const before = statSync(file);
  write(root.path, { 'needed.lisp': needed(2) });
  // As if it was written in the very second in which it was compiled.
  utimesSync(file, before.atime, before.mtime);
  expect((await run({ system: 'needed/tests', test: 'needs' })).text).toBe(
    'needs: 1 test passes (N s).\nFixed: NEEDS',
  );
});
