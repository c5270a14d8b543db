// Where the sandbox cannot work the server says so and starts no image; where it can, the first start needs no cache.

import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { installCommand } from '../../src/image/process/sbcl.ts';
import { findBubblewrap, missingBubblewrap, obstacleOf } from '../../src/image/sandbox/bubblewrap.ts';
import { outermost } from '../../src/image/sandbox/mounts.ts';
import { SERVER, temporaryFolder, testSbcl, untilCoreKept, warmCache } from '../harness.ts';
import { LONG } from '../long.ts';
import { childrenOf, until } from '../server/processes.ts';
import { RawServer, textOf } from '../server/raw.ts';
import { shell, startSandboxed, workspace } from './cell.ts';
import { sandboxTest } from './namespaces.ts';

const place = workspace();
const programs = temporaryFolder();
afterAll(() => {
  place.remove();
  programs.remove();
});

const SBCL = testSbcl();
const REFUSAL = 'The sandbox does not work here, so no Lisp image is started: ';
const OTHERWISE =
  ' Or ask the user to start the server with --no-sandbox, preferably in a container or as another user.';
const MISSING = `bubblewrap is not installed (there is no bwrap on PATH outside the workspace). Ask the user to install it: ${installCommand('bubblewrap')}. Then start the server again.`;
const SAID = 'bwrap: No permissions to create new namespace';
const FORBIDDEN = `this system does not allow user namespaces (${SAID}). Ask the user to allow them with sysctl: kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0 or user.max_user_namespaces, whichever the system has.`;

/** Returns a PATH on which bwrap is a program that says what SAYS says and fails; none at all without SAYS. */
function pathWith(says?: string): string {
  const folder = join(programs.path, String(readdirSync(programs.path).length));
  mkdirSync(folder);
  if (says !== undefined) {
    writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\necho "${says}" >&2\nexit 1\n`);
    chmodSync(join(folder, 'bwrap'), 0o755);
  }
  return folder;
}

/** Runs live-lisp with ARGS and PATH to its end. */
function run(args: string[], path: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, PATH: path, XDG_CACHE_HOME: place.cache };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [SERVER, ...args],
      { env, cwd: place.root },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

const FAILURES: [string, string | undefined, string][] = [
  ['is missing', undefined, MISSING],
  ['is not allowed to work', SAID, FORBIDDEN],
  [
    'is too old',
    'bwrap: Unknown option --disable-userns',
    'bubblewrap is older than 0.8 (bwrap: Unknown option --disable-userns). Ask the user to install a newer one.',
  ],
  [
    'fails',
    'bwrap: no luck',
    'bubblewrap fails (bwrap: no luck). Ask the user to fix bubblewrap; live-lisp doctor tests it again.',
  ],
];

test.each(FAILURES.slice(2))('where bubblewrap %s that is told', (_, says, reported) => {
  const program = join(pathWith(says), 'bwrap');
  const { why, remedy } = obstacleOf({ program, args: [], env: {} }) ?? { why: '', remedy: '' };
  expect(`${why}. ${remedy}`).toBe(reported);
});

// Each starts two programs; the others are told in the same way.
describe.each(FAILURES.slice(0, LONG ? undefined : 2))('where bubblewrap %s', (_, says, why) => {
  const args = ['--sandbox', 'strict', '--sbcl', SBCL];

  test('the server says so at the start and in each answer, starts no image, and keeps the core', async () => {
    const core = await untilCoreKept(place.cache);
    const { ino } = statSync(core);
    const env = { PATH: pathWith(says), XDG_CACHE_HOME: place.cache };
    const server = new RawServer({ args: [...args, '--root', place.root], env });
    try {
      await until('a complaint', 5000, () => server.complaints.length > 0);
      expect(server.complaints).toEqual([`live-lisp: ${REFUSAL}${why}${OTHERWISE}`]);
      await server.connect();
      for (const form of ['1', '(+ 1 2)']) {
        const reply = await server.send(server.callLine('eval_form', { form }));
        expect([textOf(reply), reply.result?.isError]).toEqual([`${REFUSAL}${why}${OTHERWISE}`, true]);
      }
      expect(childrenOf(server.pid)).toEqual([]);
      // It is not to blame.
      expect(statSync(core).ino).toBe(ino);
    } finally {
      await server.kill();
    }
  });

  test('the doctor says so', async () => {
    const { code, stdout } = await run(['doctor', ...args], pathWith(says));
    expect(stdout).toContain(`FAIL sandbox: ${why}\n`);
    expect(stdout).not.toContain('FAIL sbcl');
    expect(code).toBe(1);
  });
});

sandboxTest('once it is installed, the next call works', async () => {
  const path = pathWith();
  const session = await startSandboxed(place.root, {
    args: ['--sandbox', 'strict', '--sbcl', SBCL],
    env: { PATH: path, XDG_CACHE_HOME: place.cache },
  });
  try {
    expect(await session.eval('1')).toBe(REFUSAL + MISSING + OTHERWISE);
    symlinkSync(findBubblewrap([]) ?? 'none', join(path, 'bwrap'));
    expect(await session.eval('1')).toBe('1');
  } finally {
    await session.close();
  }
});

const UNBOXED = `Code in the image runs without a sandbox, so it can do all that you can. No sandbox works here: ${MISSING}`;

test('where nobody says how, the image is in none where it does not work, and the doctor, the status and the first answer say so', async () => {
  const path = pathWith();
  const { code, stdout } = await run(['doctor', '--sbcl', SBCL], path);
  expect(stdout).toContain(`ok   sandbox: ${UNBOXED}\n`);
  expect(code).toBe(0);
  const session = await startSandboxed(place.root, {
    args: ['--sbcl', SBCL],
    env: { PATH: path, XDG_CACHE_HOME: place.cache },
  });
  try {
    expect(await session.call('eval_form', { form: '1' })).toEqual({
      text: '1',
      notices: [`Note: ${UNBOXED}`],
      isError: false,
    });
    expect(await session.call('eval_form', { form: '2' })).toEqual({
      text: '2',
      notices: [],
      isError: false,
    });
    expect(await session.text('image_status')).toContain(`\n${UNBOXED}`);
  } finally {
    await session.close();
  }
});

sandboxTest('the doctor says that it works', async () => {
  const { stdout, code } = await run(['doctor', '--sandbox', 'strict'], String(process.env['PATH']));
  expect(stdout).toContain(
    `ok   sandbox: Code in the image is in a sandbox: it may write only in ${place.root}, and has no network.\n`,
  );
  expect(stdout).toMatch(/^ok {3}evaluation: \(\* 6 7\) gives 42$/m);
  expect(code).toBe(0);
});

// To compile the backend takes long. The short run does that in the sandbox in tests/image/start.test.ts.
sandboxTest.each(LONG ? ['no core', 'a damaged fasl', 'nothing'] : ['no core'])(
  'a cache with %s is filled, and code in the sandbox cannot write in it',
  async (which) => {
    const { root, cache, remove } = workspace('empty');
    if (which !== 'nothing') {
      warmCache(cache);
      for (const name of readdirSync(join(cache, 'live-lisp'))) {
        const file = join(cache, 'live-lisp', name);
        if (!name.endsWith('.fasl')) rmSync(file);
        else if (which === 'a damaged fasl') truncateSync(file, 20_000);
      }
    }
    const kept = () => readdirSync(join(cache, 'live-lisp')).filter((name) => !name.endsWith('.v8'));
    const all = [
      expect.stringMatching(/^backend-[0-9a-f]{16}-.*\.fasl$/),
      expect.stringMatching(/^image-[0-9a-f]{16}\.core$/),
      'sandboxes',
    ];
    const FROM_CORE =
      '(and (search "--core" (with-open-file (in "/proc/self/cmdline") (read-line in))) :from-core)';
    try {
      for (const [XDG_CACHE_HOME, from] of [
        [cache, 'NIL'],
        [cache, ':FROM-CORE'],
        // The backend is compiled again.
        ...(LONG ? [['/proc/nothing', 'NIL'] as const] : []),
      ] as const) {
        const session = await startSandboxed(root, { env: { XDG_CACHE_HOME } });
        expect(await session.eval(FROM_CORE)).toBe(from);
        await untilCoreKept(cache);
        expect(await shell(session, 'test -d "$XDG_CACHE_HOME" || mkdir "$XDG_CACHE_HOME" && echo ok')).toBe(
          '0 ok',
        );
        expect(
          await shell(session, `rm -f ${cache}/live-lisp/image-*; echo x >>${cache}/live-lisp/x`),
        ).toMatch(/Read-only file system|cannot create/);
        await session.close();
      }
      expect(kept().sort()).toEqual(all);
    } finally {
      remove();
    }
  },
);

sandboxTest('an audit log where code in the sandbox writes is refused', async () => {
  const audit = join(place.root, 'audit.jsonl');
  const { stderr } = await run(
    ['session', '--sandbox', 'strict', '--audit', audit],
    String(process.env['PATH']),
  );
  expect(stderr).toBe(
    `live-lisp: --audit cannot name a file in ${place.root}, because code in the sandbox can write there: put ${audit} into a folder of its own.\n`,
  );
});

sandboxTest('a root by a link that is hidden in the sandbox leads to it', async () => {
  const link = join(programs.path, 'link');
  symlinkSync(place.root, link);
  writeFileSync(join(place.root, 'linked.lisp'), '(defvar *linked* 1)\n');
  const session = await startSandboxed(link);
  try {
    expect(await session.text('load_file', { path: 'linked.lisp' })).toBe('Loaded linked.lisp');
    expect(await shell(session, `echo x > ${link}/through && cat through`)).toBe('0 x');
  } finally {
    await session.close();
  }
});

sandboxTest('a start file and a folder for temporary files that are in hidden ones are there', async () => {
  const init = join(programs.path, 'init.lisp');
  const TMPDIR = join(programs.path, 'temporary');
  mkdirSync(TMPDIR);
  writeFileSync(init, '(defvar cl-user::*init* :loaded)\n');
  const session = await startSandboxed(place.root, {
    args: ['--sandbox', 'strict', '--init', init],
    env: { TMPDIR },
  });
  try {
    const answer = await session.call('eval_form', { form: '*init*' });
    expect(answer).toEqual({ text: ':LOADED', notices: [], isError: false });
    expect(await shell(session, `echo x > "$TMPDIR/file" && echo ok; echo x > ${init}`)).toMatch(
      /^2 ok\n.*Read-only file system$/,
    );
    expect(readdirSync(TMPDIR)).toEqual([]);
    writeFileSync(join(place.root, 'again.lisp'), '(defvar *again* 1)\n');
    expect(await session.text('load_file', { path: 'again.lisp' })).toBe('Loaded again.lisp');
  } finally {
    await session.close();
  }
});

test('roots in or through another are not mounted by themselves', () => {
  const { path, remove } = temporaryFolder();
  const at = (name: string) => join(path, name);
  for (const name of ['one', 'one/in', 'two', 'elsewhere']) mkdirSync(at(name));
  symlinkSync(at('elsewhere'), at('one/link'));
  symlinkSync(at('two'), at('other'));
  expect(outermost([at('one'), at('one/in'), at('one/link'), at('two'), at('other')])).toEqual([
    at('one'),
    at('two'),
  ]);
  remove();
});

test('elsewhere than on Linux there is no bubblewrap', () => {
  expect(missingBubblewrap('darwin')).toEqual({
    why: 'bubblewrap exists for Linux only',
    remedy: 'To confine code on this system, run the server in a container or a virtual machine.',
  });
});
