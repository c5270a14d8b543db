// What the doctor says of a machine, and when it says that something is ok.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { arch, release, type } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import VERSIONS from '../../src/image/process/sbcl-versions.json' with { type: 'json' };
import { bad, PROJECT, SERVER, startSession, warmCache } from '../harness.ts';
import { LONG } from '../long.ts';
import { sbclThatEvaluates } from '../odd-sbcl.ts';
import { sharedFolder } from '../shared.ts';
import { type Run, run, WITHOUT_SBCL } from './run.ts';

const folder = sharedFolder();

const home = {
  HOME: folder.path,
  XDG_CACHE_HOME: join(folder.path, 'cache'),
  XDG_DATA_HOME: join(folder.path, 'data'),
};
warmCache(home.XDG_CACHE_HOME);

function write(name: string, text: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

describe('where all is well', () => {
  const env = { ...home, XDG_STATE_HOME: join(folder.path, 'state') };
  let doctor: Run;
  beforeAll(async () => {
    doctor = await run(['doctor'], env);
  });

  test('each line says so, then come the clients, and the exit code is 0', () => {
    const { code, stdout, stderr } = doctor;
    expect([code, stderr]).toEqual([0, '']);
    const [checks = '', clients = ''] = stdout.split('\n\n');
    for (const line of checks.split('\n')) expect(line).toMatch(/^ok {3}\S/);
    expect(checks).toContain(`ok   node ${process.versions.node}: ${process.execPath}\n`);
    expect(checks).toMatch(
      /^ok {3}sbcl \/\S+: SBCL \d\S+, (?:live-lisp is tested with it$|newer|older|between)/m,
    );
    expect(checks).toContain(`cache: ${folder.path}/cache/live-lisp`);
    expect(checks).toContain(`ASDF looks in ${PROJECT}`);
    expect(checks).toContain('libraries: no Quicklisp, qlot or ocicl is set up (none is needed)');
    expect(clients.split('\n')).toEqual([
      'live-lisp install sets clients up. To do it by hand:',
      `Claude Code:  claude mcp add live-lisp -- ${process.execPath} ${SERVER}`,
      `Codex:        codex mcp add live-lisp -- ${process.execPath} ${SERVER}`,
      `Others:       {"mcpServers": {"live-lisp": {"command":"${process.execPath}","args":["${SERVER}"]}}}`,
      '',
    ]);
  });

  test('a line tells of each thing that an image just did', () => {
    const { stdout } = doctor;
    expect(stdout).toMatch(/^ok {3}start: an image starts, here in \d+ ms$/m);
    expect(stdout).toContain(
      [
        'ok   evaluation: (* 6 7) gives 42',
        'ok   load: a file is loaded, and a compiler warning names its line',
        'ok   callers: who_calls finds a caller in that file',
        'ok   errors: an error comes back with its frames',
        'ok   interrupt: an endless loop is interrupted, and the image keeps its definitions',
      ].join('\n'),
    );
    expect(stdout).toMatch(/^ok {3}(?:This SBCL has all that live-lisp uses|Less with this SBCL: .+)\.$/m);
  });

  test('nothing of it gets into the records of the user', async () => {
    const session = await startSession({ env });
    expect(await session.text('get_audit_log')).toMatch(/^0 calls in the audit log/);
    await session.close();
  });
});

describe('an SBCL', () => {
  const WHAT_TO_DO =
    'Ask the user to install another (https://www.sbcl.org/platform-table.html), or to name one with --sbcl PATH.';

  test('that is not there is told with how to get one, exit 1', async () => {
    const { code, stdout } = await run(['doctor'], { ...home, ...WITHOUT_SBCL });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL sbcl: No sbcl was found on PATH or where .* install it.*$/m);
    expect(stdout).toContain('Claude Code:');
  });

  test('that does not run is told with what it wrote, exit 1', async () => {
    const sbcl = write('broken-sbcl', '#!/bin/sh\necho "cannot find core" >&2\nexit 3\n');
    const { code, stdout } = await run(['doctor', '--sbcl', sbcl], home);
    expect(code).toBe(1);
    expect(stdout).toContain(`FAIL sbcl: ${sbcl}: it does not run, or is not SBCL: cannot find core\n`);
  });

  test.each([
    [
      'is too old',
      '(defun lisp-implementation-version () "1.4.16.debian")',
      `SBCL 1.4.16.debian is too old: live-lisp needs ${VERSIONS.oldest} or newer. ${WHAT_TO_DO}`,
    ],
    [
      'has no threads',
      '(setf *features* (remove :sb-thread *features*))',
      `This SBCL VERSION has no threads, and live-lisp needs them. ${WHAT_TO_DO}`,
    ],
    [
      'is a 32-bit program',
      '(defconstant most-positive-fixnum (1- (expt 2 29)))',
      `This SBCL VERSION is a 32-bit program, and live-lisp needs 64 bits. ${WHAT_TO_DO}`,
    ],
  ])('that %s is refused in one sentence by the doctor, exit 1', async (name, form, why) => {
    const unlocked = `(handler-bind ((error (function continue))) (sb-ext:without-package-locks ${form}))`;
    const sbcl = sbclThatEvaluates(unlocked, join(folder.path, name.replaceAll(' ', '-')));
    const env = { ...home, XDG_CACHE_HOME: join(folder.path, 'empty') };
    // Servers with other state folders use the project as their workspace, and remove folders that the sandbox needs.
    const args = ['--root', folder.path, '--sbcl', sbcl];
    const doctor = await run(['doctor', ...args], env);
    const sentence = why.replace(
      'VERSION',
      /\b\d+\.\d+\.\d\S*/.exec(doctor.stdout.split('This SBCL ')[1] ?? '')?.[0] ?? '',
    );
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain(`FAIL sbcl ${sbcl}: ${sentence}\n`);
    // The first call says the same.
    if (name !== 'is too old') return;
    const session = await startSession({ args, env });
    expect(await session.call('eval_form', { form: '1' })).toEqual(bad(sentence));
    await session.close();
  });

  test('with which each evaluation ends the image is told with its last words, the next step and a report, exit 1', async () => {
    const form = `(sb-int:encapsulate (quote eval) (quote odd) (lambda (eval form &rest more)
      (when (equal form (quote (* 6 7)))
        (sb-alien:alien-funcall (sb-alien:extern-alien "puts" (function sb-alien:int sb-alien:c-string)) "Farewell from ${folder.path}")
        (sb-alien:alien-funcall (sb-alien:extern-alien "fflush" (function sb-alien:int sb-alien:unsigned-long)) 0)
        (sb-ext:exit :code 9 :abort t))
      (apply eval form more)))`;
    const sbcl = sbclThatEvaluates(form, join(folder.path, 'mad'));
    const { code, stdout } = await run(['doctor', '--sbcl', sbcl], home);
    expect(code).toBe(1);
    const lost = [
      'Error: The Lisp image was lost during this call: it exited with code 9. The next call gets a new image.',
      "Written to the image's own stdout or stderr:",
    ];
    const reported = ['FAIL evaluation does not work. Expected: (* 6 7) gives 42. The answer was:', ...lost];
    expect(stdout).toContain(`${reported.join('\n     ')}\n     Farewell from ${folder.path}\nok   `);
    const cause =
      'The failure remains when the backend runs without its optional parts. The cause may be this machine: its memory, its limits, a damaged SBCL.';
    expect(stdout).toContain(
      [
        '',
        'The doctor now looks for the part of the backend that is at fault, which can take some minutes.',
        cause,
        `If the answer above names a next step, follow it. Otherwise, please file the report below as an issue. Until that is fixed, use another SBCL with --sbcl PATH, such as one of ${VERSIONS.tested.join(', ')}.`,
        '',
        'Report, for https://github.com/live-lisp/live-lisp/issues:',
        '',
        `live-lisp 0.1.0, Node ${process.versions.node}, ${type()} ${release()} ${arch()}`,
        'SBCL ',
      ].join('\n'),
    );
    expect(stdout).toMatch(/^SBCL \d\S+: .*\bSB-THREAD\b.*\nMissing in this SBCL: .+\nFails: evaluation\. /m);
    expect(stdout).toContain(
      `Fails: evaluation. ${cause}\n${lost.join('\n')}\nFarewell from ~\n\nlive-lisp install `,
    );
  });
});

describe('besides the image', () => {
  // Where an SBCL starts without a cache, it compiles the backend for that.
  test.each(LONG ? [0, 1] : [1])(
    'a cache that cannot be written is told, which is no failure; exit %d',
    async (exit) => {
      const sbcl = exit === 0 ? {} : WITHOUT_SBCL;
      const { code, stdout } = await run(['doctor'], { ...home, ...sbcl, XDG_CACHE_HOME: '/proc/nothing' });
      expect(code).toBe(exit);
      expect(stdout).toMatch(
        /^ok {3}cache: \/proc\/nothing\/live-lisp cannot be used, so each start compiles the backend, which takes some seconds\. Make it a folder that you own and nobody else can write\.$/m,
      );
    },
  );

  test('the library manager that images use is told', async () => {
    mkdirSync(join(folder.path, 'quicklisp'));
    const setup = write('quicklisp/setup.lisp', '(error "not run by the doctor")\n');
    const linesOf = async (...flags: string[]) =>
      (await run(['doctor', ...flags], { ...home, ...WITHOUT_SBCL })).stdout;
    expect(await linesOf()).toContain(
      `ok   libraries: Quicklisp (${setup}) is loaded when a system or a form first needs it`,
    );
    expect(await linesOf('--libraries', 'none')).toContain(
      'ok   libraries: --libraries none, and none is used',
    );
    write('.sbclrc', '(load "quicklisp/setup.lisp")\n(push #p"here/" asdf:*central-registry*)\n');
    expect(await linesOf()).toContain(
      'ok   ~/.sbclrc does more than set up a library manager, so images do not load it; --init ~/.sbclrc loads it\n',
    );
  });
});
