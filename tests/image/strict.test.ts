// The agent is built without a warning; a warning costs nobody the start of an image.

import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findSbcl } from '../../src/image/process/sbcl.ts';
import { PROJECT, temporaryFolder } from '../harness.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Builds the agent from LISP, its sources, and returns how SBCL ended and what it wrote. That is whether the symbol NAME of
 *  the package HOME is a function then. */
function build(
  lisp: string,
  strict: boolean,
  [home, name]: readonly [string, string],
): { status: number | null; stderr: string; stdout: string } {
  const load = '(load (sb-ext:parse-native-namestring (sb-ext:posix-getenv "LIVE_LISP_BOOT")))';
  const started = `(progn (princ (fboundp (find-symbol "${name}" "${home}"))) (exit))`;
  return spawnSync(
    findSbcl(process.env['LIVE_LISP_SBCL'] || undefined),
    ['--noinform', '--no-sysinit', '--no-userinit', '--disable-debugger', '--eval', load, '--eval', started],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        LIVE_LISP_BOOT: join(lisp, 'boot.lisp'),
        LIVE_LISP_FASL: join(folder.path, 'agent'),
        ...(strict && { LIVE_LISP_STRICT: '1' }),
      },
    },
  );
}

test('the compiler has nothing to say against the agent', () => {
  const { status, stderr, stdout } = build(join(PROJECT, 'lisp'), true, ['LIVE-LISP.AGENT', 'MAIN']);
  expect(stderr).toBe('');
  expect(status).toBe(0);
  expect(stdout).toMatch(/MAIN/);
});

test('an undefined function, variable or type fails a strict build by name, and no other', () => {
  const lisp = join(folder.path, 'lisp');
  cpSync(join(PROJECT, 'lisp'), lisp, { recursive: true });
  // The first room alone takes a tenth of the time.
  const boot = readFileSync(join(lisp, 'boot.lisp'), 'utf8');
  const alone = boot.replace(/(\("base" .*\))\n(?: +\("\w+" .*\)\n)+/, '$1)\n').replace('\'("main")', "'()");
  expect(alone.match(/^ +'?\(+"\w+" "package"/gm)).toHaveLength(1);
  writeFileSync(join(lisp, 'boot.lisp'), alone);
  appendFileSync(
    join(lisp, 'base', 'wire.lisp'),
    '(defun wrong (x) "Do." (typep x (quote no-such-type)) (no-such-function *no-such-variable*))\n',
  );
  const wrong = ['LIVE-LISP.BASE', 'WRONG'] as const;
  const { status, stderr } = build(lisp, true, wrong);
  expect(status).toBe(1);
  for (const name of ['type', 'function', 'variable']) {
    expect(stderr).toMatch(new RegExp(`wire\\.lisp: .*undefined.*no-such-${name}`, 'i'));
  }
  const other = build(lisp, false, wrong);
  expect([other.status, other.stderr]).toEqual([0, '']);
  expect(other.stdout).toMatch(/WRONG/);
});
