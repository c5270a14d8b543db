// How an image comes up: its cache, its SBCL, its heap.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { backendCommand, cacheUsable } from '../../src/image/process/backend.ts';
import type { Child } from '../../src/image/process/child.ts';
import { Lifetime } from '../../src/image/process/lifetime.ts';
import { installHint } from '../../src/image/process/sbcl.ts';
import { cacheFolder } from '../../src/paths.ts';
import { WITHOUT_SBCL } from '../cli/run.ts';
import { tree } from '../files/workspaces.ts';
import {
  type Answer,
  bad,
  good,
  LISP,
  type Session,
  type StartOptions,
  temporaryFolder,
  testSbcl,
  untilCoreKept,
  warmCache,
} from '../harness.ts';
import { libraries } from '../libraries.ts';
import { within } from '../load.ts';
import { LONG } from '../long.ts';
import { sbclThatEvaluates } from '../odd-sbcl.ts';
import { childrenOf, until } from '../server/processes.ts';
import { RawServer } from '../server/raw.ts';
import { sharedFolder, withSession } from '../shared.ts';

libraries('alexandria');

const SBCL = testSbcl();

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** Returns the answer to the first evaluation of a server that was started with OPTIONS. */
function firstAnswer(options: StartOptions, form = '(+ 1 2)'): Promise<Answer> {
  return withSession(options, (session) => session.call('eval_form', { form }));
}

const THREE: Answer = good('3');

/** Writes the shell SCRIPT as the program NAME into the test's folder and returns its path. */
function program(name: string, script: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

describe('the cache', () => {
  /** What is there of the backend, without parts that a server which ended has begun. The code of the program has tests
   * of its own. */
  const cached = (base: string) =>
    readdirSync(join(base, 'live-lisp')).filter((name) => !/\.v8$|\.fasl\.|^sandboxes$/.test(name));

  /** Each compiles the backend, in the sandbox where that works, which takes long. So only the long run has two, which do
   * so side by side. */
  const servers = LONG ? 2 : 1;
  const shared = sharedFolder();
  let damaged: { file: string; whole: number };
  let first: Answer[];
  const progress: string[] = [];
  /** What is left in each image of what compiled the backend. */
  const left: string[] = [];
  beforeAll(async () => {
    warmCache(shared.path);
    const folder = join(shared.path, 'live-lisp');
    const [fasl = ''] = cached(shared.path).filter((name) => name.endsWith('.fasl'));
    for (const name of readdirSync(folder)) if (name !== fasl) rmSync(join(folder, name));
    const file = join(folder, fasl);
    damaged = { file, whole: statSync(file).size };
    truncateSync(file, 20_000);
    // Where a busy machine compiles for too long, the source would be loaded instead.
    const image = { progress: 100, compile: 600_000 };
    const options = { env: { XDG_CACHE_HOME: shared.path }, waits: { image } };
    const start = () =>
      withSession(options, async (session) => {
        const onprogress = ({ message = '' }: { message?: string }) => progress.push(message);
        const answer = await session.call('eval_form', { form: '(+ 1 2)' }, { onprogress });
        await untilCoreKept(shared.path);
        await until('the end of what made the core', 60_000, () => childrenOf(session.pid).length === 1);
        left.push(await session.eval('(find-package "LIVE-LISP.BOOT")'));
        return answer;
      });
    first = await Promise.all(Array.from({ length: servers }, start));
  });

  test('with a damaged fasl has a whole one and a core after the first start, and those serve the next', async () => {
    expect(first).toEqual(Array.from({ length: servers }, () => THREE));
    const files = cached(shared.path);
    expect(files).toEqual([
      expect.stringMatching(/^backend-[0-9a-f]+-.*\.fasl$/),
      expect.stringMatching(/^image-[0-9a-f]+\.core$/),
    ]);
    // Its bytes depend on how many processes compiled.
    expect(statSync(damaged.file).size / damaged.whole).toBeCloseTo(1, 2);
    const identities = () => files.map((name) => statSync(join(shared.path, 'live-lisp', name)).ino);
    const before = identities();
    expect(await firstAnswer({ env: { XDG_CACHE_HOME: shared.path } })).toEqual(THREE);
    expect(cached(shared.path)).toEqual(files);
    expect(identities()).toEqual(before);
  });

  test('that has no whole fasl has its first start tell that the backend is compiled, in a process that ends with that', () => {
    const message = /^\d+\.\d s, compiling the backend, once for this SBCL$/;
    expect(progress).toContainEqual(expect.stringMatching(message));
    // What the compiler took is not kept: the image has the backend only from its fasl.
    expect(left).toEqual(Array.from({ length: servers }, () => 'NIL'));
  });

  // That it ends is what the backend is compiled after.
  test('with Lisp that is no backend ends the image that loads it', () => {
    mkdirSync(join(folder.path, 'live-lisp'));
    writeFileSync(join(folder.path, 'live-lisp', basename(damaged.file)), '(defvar cl-user::*fake* 1)\n');
    const options = { lispFolder: LISP, root: folder.path, heapMb: 512, trees: [] };
    const cache = cacheFolder({ XDG_CACHE_HOME: folder.path });
    const { program, args, env } = backendCommand(SBCL, { ...options, cacheFolder: cache }, true);
    const { status, stderr } = spawnSync(program, args, { env, encoding: 'utf8', timeout: 600_000 });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/unhandled|debugger/i)]);
  });

  // It is also what shows that the compiler has nothing to say against the backend: a strict build ends by a warning.
  test('that cannot be used has the image compile the backend, which costs no warning, no ability and no file', async () => {
    const lessIn = async (session: Session) => {
      expect(await session.eval('(third (list 1 2 3))')).toBe('3');
      return /^Less with this SBCL: .*/m.exec(await session.text('image_status'))?.[0];
    };
    // Some SBCLs have less in any image.
    const less = await withSession({}, lessIn);
    const env = { XDG_CACHE_HOME: '/proc/x', TMPDIR: folder.path, LIVE_LISP_STRICT: '1' };
    await withSession({ env, waits: { image: { start: 600_000 } } }, async (session) => {
      expect(await lessIn(session)).toBe(less);
      const left = readdirSync(folder.path).filter((name) => /^live-lisp-\d+-\w{6}$/.test(name));
      expect(left).toEqual([]);
    });
  });

  test('that cannot be made, or whose place is a file, is not usable', () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    for (const place of ['/proc/1/cache', file])
      expect(cacheUsable(cacheFolder({ XDG_CACHE_HOME: place }))).toBe(false);
  });

  test('without a home there is an image, and nothing is left in the workspace', async () => {
    const env = { HOME: undefined, XDG_CACHE_HOME: undefined };
    const server = await new RawServer({ env, cwd: folder.path }).connect();
    expect(await server.eval('(+ 1 2)')).toBe('3');
    await server.kill();
    expect(tree(folder.path)).toEqual([]);
  });
});

test('without an sbcl the tools are listed, each call says how to install it, and works once it is there', async () => {
  const args = ['--no-sandbox'];
  const env = { ...WITHOUT_SBCL, PATH: folder.path };
  // What cannot be run does not count.
  mkdirSync(join(folder.path, 'sbcl'));
  await withSession({ args, env }, async (session) => {
    expect((await session.client.listTools()).tools.length).toBeGreaterThan(5);
    const text = `No sbcl was found on PATH or where package managers install it, so no Lisp image can start. ${installHint()} Then call again; the server need not be restarted.`;
    for (const [name, args] of [
      ['eval_form', { form: '1' }],
      ['describe_symbol', { symbol: 'car' }],
      ['load_system', { system: 'alexandria' }],
    ] as const) {
      expect(await session.call(name, args)).toEqual(bad(text));
    }
    rmdirSync(join(folder.path, 'sbcl'));
    symlinkSync(SBCL, join(folder.path, 'sbcl'));
    expect(await session.call('eval_form', { form: '(+ 1 2)' })).toEqual(THREE);
  });
});

describe('the sbcl that is started', () => {
  test('when it exits at once, a call says so, and the next tries again', async () => {
    const path = program('broken', 'echo "broken has no core" >&2; exit 7');
    await withSession({ args: ['--sbcl', path] }, async (session) => {
      expect(await session.call('eval_form', { form: '1' })).toEqual(
        bad(
          'The Lisp image did not start: it exited with code 7. It wrote:\nbroken has no core\nRun live-lisp doctor to find the step that fails.',
        ),
      );
      program('broken', `WHICH_SBCL=broken exec ${SBCL} "$@"`);
      const form = '(sb-ext:posix-getenv "WHICH_SBCL")';
      expect((await session.call('eval_form', { form })).text).toBe('"broken"');
    });
  });

  test('has a time to compile the backend, and the image starts without when that is up', async () => {
    const form = '(if (sb-ext:posix-getenv "LIVE_LISP_WORKERS") (sleep 1000) (sb-ext:exit :code 7 :abort t))';
    const sbcl = sbclThatEvaluates(form, join(folder.path, 'never-compiles'));
    const env = { XDG_CACHE_HOME: folder.path, LIVE_LISP_SBCL: sbcl };
    const options = { env, waits: { image: { compile: 500 } } };
    const { text } = await within(50_000, () => firstAnswer(options));
    expect(text).toContain('it exited with code 7');
  });
});

describe('when no image starts, a call says', () => {
  const DOCTOR = 'Run live-lisp doctor to find the step that fails.';
  // The backend says nothing, and is not compiled anew after that, which takes long.
  const silent = `case "$*" in *LIVE-LISP.BACKEND*) exec sleep 1000;; *LIVE_LISP_BOOT*) exit 1;; esac; exec '${SBCL}' "$@"`;
  const fatal = (reason: string) =>
    `echo 'fatal error encountered in SBCL pid 1:' >&2; echo '${reason}' >&2; exit 1`;
  test.each([
    ['the signal', 'kill -9 $$', `it was ended by SIGKILL. ${DOCTOR}`],
    [
      'why SBCL gave up',
      fatal('No core here'),
      `its runtime gave up: No core here. It wrote:\nfatal error encountered in SBCL pid 1:\nNo core here\n${DOCTOR}`,
    ],
    [
      'that its heap is too small',
      fatal('Heap exhausted, game over.'),
      `its heap was exhausted. It wrote:\nfatal error encountered in SBCL pid 1:\nHeap exhausted, game over.\n${DOCTOR}`,
    ],
    ['how long was waited', silent, `it did not answer within 1 s. ${DOCTOR}`],
  ])('%s', async (_, script, how) => {
    // A busy machine can take more than a second to run the other scripts.
    const waits = script === silent ? { image: { start: 1000 } } : {};
    const options = { args: ['--sbcl', program('broken', script)], waits };
    expect(await firstAnswer(options)).toEqual(bad(`The Lisp image did not start: ${how}`));
  });
});

test('the heap has the size of --heap, and SBCL three times as much', async () => {
  // A status that comes late on a busy machine tells no heap.
  const options = { args: ['--heap=512mb'], waits: { image: { status: 60_000 } } };
  await withSession(options, async (session) => {
    expect(await session.eval('(floor (sb-ext:dynamic-space-size) (* 1024 1024))')).toMatch(/^1536\n/);
    expect(await session.text('image_status')).toContain(' of 512 MB; ');
  });
});

test('the image starts in the workspace root, with nothing of the user’s init files', async () => {
  folder.put('.sbclrc', '(defvar cl-user::*rc* 1)\n');
  const form =
    '(list (sb-ext:native-namestring *default-pathname-defaults*) (boundp (quote *rc*)) (probe-file "marker"))';
  folder.put('marker', '');
  const env = { HOME: folder.path, XDG_CACHE_HOME: dirname(cacheFolder()) };
  const { text } = await firstAnswer({ cwd: folder.path, env }, form);
  expect(text).toMatch(new RegExp(`^\\("[^"]*" NIL #P"${folder.path}/marker"\\)$`));
  expect(existsSync(join(folder.path, 'marker'))).toBe(true);
});

test('an error of the server after the greeting leaves no process, and the next start is another one', async () => {
  const started: Child[] = [];
  const lost: string[] = [];
  const options = {
    lispFolder: LISP,
    cacheFolder: cacheFolder(),
    root: folder.path,
    heapMb: 1024,
    trees: [],
    sbcl: SBCL,
  };
  const lifetime = new Lifetime(options, {
    upcalls: (child) => {
      started.push(child);
      return {};
    },
    loadStartFiles: async () => {
      if (started.length === 1) throw new Error('No start files.');
    },
    rebuild: async () => 'keep',
    lost: (how) => lost.push(how),
  });
  await expect(lifetime.ready()).rejects.toThrow('No start files.');
  expect([started[0]?.dead, lost]).toEqual([true, [expect.stringContaining('could not be prepared')]]);
  expect(await lifetime.ready()).toBe(started[1]);
  lifetime.close();
  await started[1]?.ended;
});
