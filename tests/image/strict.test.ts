// A warning ends a strict build of the backend, and costs nobody the start of an image. That the backend has none is
// shown in start.test.ts.

import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT, testSbcl } from '../harness.ts';
import { sharedFolder } from '../shared.ts';

const STRICT = { LIVE_LISP_STRICT: '1' };
const SIDE_BY_SIDE = { LIVE_LISP_WORKERS: '2', LIVE_LISP_SERVER: '1' };

const folder = sharedFolder();
/** A copy of the first room, in which one function is wrong. */
const lisp = join(folder.path, 'lisp');
const wrong = ['LIVE-LISP.BASE', 'WRONG'] as const;

/** Builds the backend from LISP, its sources, in the way that ENV says, and returns how SBCL ended and what it wrote.
 * That is  whether the symbol NAME of the package HOME is a function then. */
function build(
  lisp: string,
  env: NodeJS.ProcessEnv,
  [home, name]: readonly [string, string],
): { status: number | null; stderr: string; stdout: string } {
  const load = '(load (sb-ext:parse-native-namestring (sb-ext:posix-getenv "LIVE_LISP_BOOT")))';
  const started = `(progn (princ (fboundp (find-symbol "${name}" "${home}"))) (exit))`;
  return spawnSync(
    testSbcl(),
    ['--noinform', '--no-sysinit', '--no-userinit', '--disable-debugger', '--eval', load, '--eval', started],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        LIVE_LISP_BOOT: join(lisp, 'boot.lisp'),
        LIVE_LISP_FASL: join(folder.path, 'backend'),
        ...env,
      },
    },
  );
}

test('an undefined function, variable or type fails a strict build by name', () => {
  cpSync(join(PROJECT, 'lisp'), lisp, { recursive: true });
  // The first room alone takes a tenth of the time.
  const system = readFileSync(join(lisp, 'live-lisp.asd'), 'utf8');
  const alone = system.replace(/\n +\(:module "jobs".*?\(:file "main"\)/s, '');
  expect(alone.match(/:module/g)).toHaveLength(1);
  writeFileSync(join(lisp, 'live-lisp.asd'), alone);
  writeFileSync(join(lisp, 'closed.lisp'), '');
  appendFileSync(
    join(lisp, 'base', 'wire.lisp'),
    '(defun wrong (x) "Do." (typep x (quote no-such-type)) (no-such-function *no-such-variable*))\n' +
      "(defun no-function () #'if)\n",
  );
  const { status, stderr } = build(lisp, STRICT, wrong);
  expect(status).toBe(1);
  expect(stderr).toMatch(/wire\.lisp: has a form that cannot be compiled/);
  for (const name of ['type', 'function', 'variable']) {
    expect(stderr).toMatch(new RegExp(`wire\\.lisp: .*undefined.*no-such-${name}`, 'i'));
  }
});

test('processes side by side make the whole fasl or none, and leave no part of it', () => {
  const made = () => readdirSync(folder.path).filter((file) => file.startsWith('backend'));
  for (const file of made()) rmSync(join(folder.path, file));
  // What failed a strict build fails no other.
  const { status, stderr } = build(lisp, SIDE_BY_SIDE, wrong);
  expect([status, stderr]).toEqual([0, '']);
  expect(made()).toEqual([expect.stringMatching(/\.fasl$/)]);
  const fasl = { LIVE_LISP_BOOT: join(folder.path, made()[0] ?? '') };
  expect(build(lisp, fasl, wrong).stdout).toMatch(/WRONG/);
  for (const file of made()) rmSync(join(folder.path, file));
  appendFileSync(join(lisp, 'base', 'wire.lisp'), '(defun never-closed (');
  build(lisp, SIDE_BY_SIDE, wrong);
  expect(made()).toEqual([]);
});
