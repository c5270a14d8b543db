// The backend is an ASDF system, which a Lisp programmer can load, test and work on without the server.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT, testSbcl } from '../harness.ts';
import { sharedFolder } from '../shared.ts';

const folder = sharedFolder();

/** To compile the whole backend takes ten seconds of CPU. A process beside many others waited six minutes for them. */
const COMPILING_MS = 1_800_000;

/** Evaluates FORMS in an SBCL with ASDF, in which another thread runs, as in SLIME. Returns how it ended and what it
 *  wrote. */
function evaluate(...forms: string[]): { status: number | null; stdout: string; stderr: string } {
  const all = [
    '(require :asdf)',
    '(sb-thread:make-thread (lambda () (sleep 1000)))',
    ...forms,
    '(sb-ext:exit :abort t :code 0)',
  ];
  return spawnSync(
    testSbcl(),
    [
      ...['--noinform', '--no-sysinit', '--no-userinit', '--non-interactive'],
      ...all.flatMap((form) => ['--eval', form]),
    ],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        CL_SOURCE_REGISTRY: join(PROJECT, 'lisp/'),
        ASDF_OUTPUT_TRANSLATIONS: `(:output-translations (t "${folder.path}/") :ignore-inherited-configuration)`,
      },
    },
  );
}

test('ASDF loads it beside other threads, with the internals of this SBCL, and its tests in Lisp pass', {
  timeout: COMPILING_MS,
}, () => {
  const { status, stdout, stderr } = evaluate(
    '(asdf:test-system "live-lisp")',
    '(format t "~&~D proven~%" (length live-lisp.internals:*proven*))',
  );
  expect(stderr + stdout).not.toMatch(/caught (?:STYLE-)?(?:WARNING|ERROR)/);
  expect(stdout).toMatch(/\nNo tests failed\./);
  // Without probes it would be compiled for no internals at all.
  expect(Number(/(\d+) proven/.exec(stdout)?.[1])).toBeGreaterThan(250);
  expect(status).toBe(0);
});

test('a file that is compiled again alone finds what the others define', () => {
  const again = (name: string) =>
    `(load (compile-file (asdf:system-relative-pathname "live-lisp" "${name}") :output-file "${folder.path}/again.fasl"))`;
  const { status, stdout, stderr } = evaluate(
    '(asdf:load-system "live-lisp")',
    ...['base/wire.lisp', 'jobs/frames.lisp', 'main.lisp'].map(again),
  );
  expect(stderr + stdout).not.toMatch(/caught (?:STYLE-)?(?:WARNING|ERROR)/);
  expect(status).toBe(0);
});

test('its part for images of other people is a system too', () => {
  const { status, stdout } = evaluate(
    '(asdf:load-system "live-lisp/attached")',
    '(princ (fboundp (find-symbol "SERVE" "LIVE-LISP.BACKEND")))',
  );
  expect(stdout).toMatch(/#<FUNCTION LIVE-LISP\.BACKEND:SERVE>/);
  expect(status).toBe(0);
});
