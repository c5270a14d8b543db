// run_tests counts in the test suites of Debian's libraries what their own frameworks report in an SBCL of its own.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { testSbcl } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

libraries(
  'alexandria',
  'anaphora',
  'iterate',
  'trivial-garbage',
  'trivial-features',
  'nibbles',
  'osicat',
  'named-readtables',
  'esrap',
  'split-sequence',
  'xmls',
  'rt',
  'fiveam',
);

/** The systems, and how their frameworks report: FiveAM checks, RT pending tests. Not bordeaux-threads,
 *  whose test of condition variables hangs by itself. Nor kmrcl and ieee-floats, whose tests Debian leaves out. That
 *  of named-readtables has a copy of RT in a package of its own. */
const LIBRARIES: readonly [system: string, framework: keyof typeof REPORTS][] = [
  ['alexandria', 'rt'],
  ['anaphora', 'rt'],
  ['iterate', 'rt'],
  ['trivial-garbage', 'rt'],
  ['trivial-features', 'rt'],
  ['nibbles', 'rt'],
  ['osicat', 'rt'],
  ['named-readtables', 'rt'],
  ['esrap', 'fiveam'],
  ['split-sequence', 'fiveam'],
  ['xmls', 'fiveam'],
];

/** How many checks there were, and how many of them failed. */
interface Counts {
  checks: number;
  failed: number;
}

const sum = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].reduce((total, [, count = '0']) => total + Number(count), 0);

const REPORTS = {
  fiveam: (text: string): Counts => ({
    checks: sum(text, /Did (\d+) checks?/g),
    failed: sum(text, /Fail: (\d+)/g),
  }),
  rt: (text: string): Counts => ({
    checks: sum(text, /Doing (\d+) pending tests?/g),
    failed: sum(text, /^(\d+) out of \d+/gm),
  }),
};

/** Returns what testing SYSTEM prints in an SBCL without us. */
function ownReport(system: string): string {
  const form = `(handler-case (asdf:test-system "${system}") (error (c) (format t "~&~A~%" c)))`;
  const args = [
    '--noinform',
    '--no-userinit',
    '--non-interactive',
    '--eval',
    '(require :asdf)',
    '--eval',
    form,
  ];
  return execFileSync(testSbcl(), args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 600_000,
  });
}

const root = sharedFolder();
const session = sharedSession({
  args: ['--root', root.path],
  onQuestion: () => ({ action: 'accept', content: { decision: 'approve' } }),
});

/** Returns what run_tests counts in SYSTEM, tested with ARGS. */
async function ourReport(system: string, args: object = {}) {
  const { text } = await session.call('run_tests', { system, timeout: 600, ...args });
  const [, failing = '0', tests = '0', checks = tests] =
    /: (?:(\d+) of )?(\d+) tests? \w+ \((?:(\d+) checks, )?/.exec(text) ?? [];
  const [, expected = '0'] = /(\d+) failed as expected/.exec(text) ?? [];
  const [, ran = '0', measured = '0'] = /^Coverage: (\d+) of (\d+) definitions ran/m.exec(text) ?? [];
  return { failing, checks, expected, ran: Number(ran), measured: Number(measured), text };
}

/** Keeps which function each name has, and which methods. */
const REMEMBER = `(progn
  (defun cl-user::all-functions ()
    (let ((all (make-hash-table :test 'eq)))
      (do-all-symbols (name all)
        (when (and (fboundp name) (not (macro-function name)) (not (special-operator-p name)))
          (let ((function (sb-kernel:fdefn-fun (sb-int:find-fdefn name))))
            (setf (gethash name all)
                  (cons function (and (typep function 'generic-function)
                                      (copy-list (sb-mop:generic-function-methods function))))))))))
  (defvar cl-user::*functions*)
  (setf cl-user::*functions* (cl-user::all-functions))
  t)`;
/** Evaluates to the names that have another function now, or lack a method. */
const CHANGED = `(let ((now (cl-user::all-functions)))
  (loop for name being the hash-keys of cl-user::*functions* using (hash-value before)
        for (function . methods) = before
        for (other . others) = (gethash name now)
        unless (and (eq function other) (subsetp methods others)) collect name))`;

test.each(LIBRARIES)('the tests of %s are counted as %s counts them', async (system, framework) => {
  // All tests of RT are in one table, so each library gets an image of its own.
  await session.call('restart_image', { rebuild: 'none' });
  const { failing, checks, expected } = await ourReport(system);
  const own = REPORTS[framework](ownReport(system));
  expect(own.checks).toBeGreaterThan(0);
  expect(Number(checks)).toBe(own.checks);
  const failed = Number(failing) + Number(expected);
  // FiveAM counts checks that failed, of which a test can have several.
  expect(framework === 'fiveam' ? failed > 0 : failed).toBe(
    framework === 'fiveam' ? own.failed > 0 : own.failed,
  );
  // The first run with coverage loads the library of SBCL that reads the marks.
  await session.eval('(require :sb-cover)');
  await session.eval(REMEMBER);
  const covered = await ourReport(system, { coverage: true });
  console.log(`${system}: ${covered.ran} of ${covered.measured} definitions ran`);
  expect([covered.failing, covered.checks, covered.expected]).toEqual([failing, checks, expected]);
  // A library can have only macros, which run before its tests do.
  if (covered.measured > 0) expect(covered.ran).toBeGreaterThan(0);
  expect(await session.eval(CHANGED)).toBe('NIL');
});
