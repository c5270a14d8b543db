// How an image comes up: its cache, its SBCL, its heap.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { backendCommand, cacheUsable } from '../../src/image/process/backend.ts';
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

/** Where no folder can be made. */
const UNUSABLE = ['/proc/x', '/proc/1/cache', '/dev/null/cache', '/sys/kernel'] as const;

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
  const cached = (base = folder.path) =>
    readdirSync(join(base, 'live-lisp')).filter((name) => !/\.v8$|\.fasl\.|^sandboxes$/.test(name));
  const truncated = (file: string) => truncateSync(file, 20_000);
  /** Puts the backend, compiled but not whole, into the cache below BASE. Returns its file, and how large it should
   * be. */
  function truncatedIn(base: string): { file: string; whole: number } {
    warmCache(base);
    const [fasl = ''] = cached(base).filter((name) => name.endsWith('.fasl'));
    for (const name of readdirSync(join(base, 'live-lisp')))
      if (name !== fasl) rmSync(join(base, 'live-lisp', name));
    const file = join(base, 'live-lisp', fasl);
    const whole = statSync(file).size;
    truncated(file);
    return { file, whole };
  }
  /** Expects that FILE has about the size WHOLE: its bytes depend on how many processes compiled. */
  const expectWhole = ({ file, whole }: { file: string; whole: number }) =>
    expect(statSync(file).size / whole).toBeCloseTo(1, 2);
  const inFolder = () => ({ env: { XDG_CACHE_HOME: folder.path } });

  /** Each compiles the backend, in the sandbox where that works, which takes long. So only the long run has two, which
   * find an  empty cache at once, and the other obstacles below. The short run has one, which finds a damaged fasl
   * first and then  does the same as with an empty cache. */
  const servers = LONG ? 2 : 1;
  const found = LONG ? 'empty' : 'with a damaged fasl';
  /** That cache, and what they answered. */
  const good = sharedFolder();
  let damaged: { file: string; whole: number } | undefined;
  let first: Answer[];
  const progress: string[] = [];
  /** What is left in each image of what compiled the backend. */
  const left: string[] = [];
  beforeAll(async () => {
    if (!LONG) damaged = truncatedIn(good.path);
    // Where a busy machine compiles for too long, the source would be loaded instead.
    const image = { progress: 100, compile: 600_000 };
    const options = { env: { XDG_CACHE_HOME: good.path }, waits: { image } };
    const start = () =>
      withSession(options, async (session) => {
        const onprogress = ({ message = '' }: { message?: string }) => progress.push(message);
        const answer = await session.call('eval_form', { form: '(+ 1 2)' }, { onprogress });
        await untilCoreKept(good.path);
        await until('the end of what made the core', 60_000, () => childrenOf(session.pid).length === 1);
        left.push(await session.eval('(find-package "LIVE-LISP.BOOT")'));
        return answer;
      });
    first = await Promise.all(Array.from({ length: servers }, start));
  });

  test(`that ${servers} found ${found} has one fasl and one core then, and those serve the next`, async () => {
    expect(first).toEqual(Array.from({ length: servers }, () => THREE));
    const files = cached(good.path);
    expect(files).toEqual([
      expect.stringMatching(/^backend-[0-9a-f]+-.*\.fasl$/),
      expect.stringMatching(/^image-[0-9a-f]+\.core$/),
    ]);
    expect(damaged === undefined).toBe(LONG);
    if (damaged !== undefined) expectWhole(damaged);
    const identities = () => files.map((name) => statSync(join(good.path, 'live-lisp', name)).ino);
    const before = identities();
    expect(await firstAnswer({ env: { XDG_CACHE_HOME: good.path } })).toEqual(THREE);
    expect(cached(good.path)).toEqual(files);
    expect(identities()).toEqual(before);
  });

  test('that has no whole fasl has its first start tell that the backend is compiled, in a process that ends with that', () => {
    const message = /^\d+\.\d s, compiling the backend, once for this SBCL$/;
    expect(progress).toContainEqual(expect.stringMatching(message));
    // What the compiler took is not kept: the image has the backend only from its fasl.
    expect(left).toEqual(Array.from({ length: servers }, () => 'NIL'));
  });

  describe('that is damaged', () => {
    const goodFasl = () => {
      const [name = ''] = cached(good.path);
      return { name, path: join(good.path, 'live-lisp', name) };
    };

    /** Puts the fasl into the test's cache, does DAMAGE to it, and returns its path and how large it should be. */
    function putDamaged(damage: (file: string) => void): { file: string; whole: number } {
      const { name, path } = goodFasl();
      const file = join(folder.path, 'live-lisp', name);
      mkdirSync(dirname(file));
      copyFileSync(path, file);
      damage(file);
      return { file, whole: statSync(path).size };
    }

    // That it ends is what the backend is compiled after.
    test.each([
      ['truncated', truncated],
      ['empty', (file: string) => truncateSync(file, 0)],
      ['garbage', (file: string) => writeFileSync(file, 'garbage '.repeat(5000))],
      [
        'of another version',
        (file: string) => writeFileSync(file, '# FASL\n  compiled from "x"\n  using SBCL version 0.1\n'),
      ],
      ['Lisp, but no backend', (file: string) => writeFileSync(file, '(defvar cl-user::*fake* 1)\n')],
    ])('because it is %s ends the image that loads it', (_, damage) => {
      putDamaged(damage);
      const options = { lispFolder: LISP, root: folder.path, heapMb: 512, trees: [] };
      const cache = cacheFolder({ XDG_CACHE_HOME: folder.path });
      const { program, args, env } = backendCommand(SBCL, { ...options, cacheFolder: cache }, true);
      const { status, stderr } = spawnSync(program, args, { env, encoding: 'utf8', timeout: 600_000 });
      expect([status, stderr]).toEqual([1, expect.stringMatching(/unhandled|debugger/i)]);
    });

    // The short run has such a start above.
    test.each(LONG ? [truncated] : [])('is no obstacle, and is whole again', async (damage) => {
      const put = putDamaged(damage);
      expect(await firstAnswer(inFolder())).toEqual(THREE);
      expect(cached()).toContain(basename(put.file));
      expectWhole(put);
    });

    test.each(LONG ? [true, false] : [])(
      'because a folder is where the fasl should be (%j), or it is not usable, is no obstacle',
      async (usable) => {
        if (usable) mkdirSync(join(folder.path, 'live-lisp', goodFasl().name), { recursive: true });
        const env = { XDG_CACHE_HOME: usable ? folder.path : UNUSABLE[0] };
        expect(await firstAnswer({ env })).toEqual(THREE);
      },
    );
  });

  // It is also what shows that the compiler has nothing to say against the backend: a strict build ends by a warning.
  test('that cannot be used has the image compile the backend, which costs no warning, no ability and no file', async () => {
    const lessIn = async (session: Session) => {
      expect(await session.eval('(third (list 1 2 3))')).toBe('3');
      return /^Less with this SBCL: .*/m.exec(await session.text('image_status'))?.[0];
    };
    // Some SBCLs have less in any image.
    const less = await withSession({}, lessIn);
    const env = { XDG_CACHE_HOME: UNUSABLE[0], TMPDIR: folder.path, LIVE_LISP_STRICT: '1' };
    await withSession({ env, waits: { image: { start: 600_000 } } }, async (session) => {
      expect(await lessIn(session)).toBe(less);
      const left = readdirSync(folder.path).filter((name) => /^live-lisp-\d+-\w{6}$/.test(name));
      expect(left).toEqual([]);
    });
  });

  test.each(UNUSABLE)('that cannot be made, in %s, is not usable', (path) => {
    expect(cacheUsable(cacheFolder({ XDG_CACHE_HOME: path }))).toBe(false);
  });

  test('whose place is a file is not usable', () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    expect(cacheUsable(cacheFolder({ XDG_CACHE_HOME: file }))).toBe(false);
  });

  test.each(LONG ? [undefined, '', '/nonexistent'] : [undefined])(
    'without a home (HOME is %j) there is an image, and nothing is left in the workspace',
    async (home) => {
      const env = { HOME: home, XDG_CACHE_HOME: undefined };
      const server = await new RawServer({ env, cwd: folder.path }).connect();
      expect(await server.eval('(+ 1 2)')).toBe('3');
      await server.kill();
      expect(tree(folder.path)).toEqual([]);
    },
  );
});

describe('without an sbcl', () => {
  const nowhere = () => ({ args: ['--no-sandbox'], env: { ...WITHOUT_SBCL, PATH: folder.path } });
  const text = `There is no sbcl on this machine's PATH or where package managers put it, so there is no Lisp image to ask. ${installHint()} Then call again; the server need not be restarted.`;

  test('the tools are listed, each call says how to install it, and works once it is there', async () => {
    await withSession(nowhere(), async (session) => {
      expect((await session.client.listTools()).tools.length).toBeGreaterThan(5);
      for (const [name, args] of [
        ['eval_form', { form: '1' }],
        ['apropos_search', { pattern: 'car' }],
        ['who_calls', { name: 'car' }],
        ['describe_symbol', { symbol: 'car' }],
        ['load_system', { system: 'alexandria' }],
      ] as const) {
        expect(await session.call(name, args)).toEqual(bad(text));
      }
      symlinkSync(SBCL, join(folder.path, 'sbcl'));
      expect(await session.call('eval_form', { form: '(+ 1 2)' })).toEqual(THREE);
    });
  });

  test('what is on PATH and called sbcl but cannot be run does not count', async () => {
    mkdirSync(join(folder.path, 'sbcl'));
    expect((await firstAnswer(nowhere())).text).toBe(text);
  });
});

describe('the sbcl that is started', () => {
  /** A core is made of each that runs, so what only tells which one is started fails. */
  const failing = (name: string) => program(name, `echo "${name} has no core" >&2; exit 7`);
  const failed = (name: string) => expect.stringContaining(`${name} has no core`);

  // Which one that is, is tested in tests/kernel/setup.test.ts.
  test('is the one of LIVE_LISP_SBCL', async () => {
    const env = { LIVE_LISP_SBCL: failing('from-environment') };
    expect((await firstAnswer({ env })).text).toEqual(failed('from-environment'));
  });

  test('when there is none, a call says so', async () => {
    const text =
      'There is no executable SBCL at /no/such/sbcl. Correct --sbcl or LIVE_LISP_SBCL, or leave both out to use the sbcl on PATH.';
    const answer = await firstAnswer({ args: ['--sbcl', '/no/such/sbcl'] });
    expect(answer).toEqual(bad(text));
  });

  test('when it exits at once, a call says so, and the next tries again', async () => {
    const path = failing('broken');
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
    ['the exit code', 'exit 7', `it exited with code 7. ${DOCTOR}`],
    [
      'and what it wrote',
      'echo a; sleep 0.1; echo b >&2; exit 7',
      `it exited with code 7. It wrote:\na\nb\n${DOCTOR}`,
    ],
    ['the signal', 'kill -SEGV $$', `it was ended by SIGSEGV. ${DOCTOR}`],
    ['the signal from outside', 'kill -9 $$', `it was ended by SIGKILL. ${DOCTOR}`],
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
    const options = { args: ['--sbcl', program('broken', script)], waits: { image: { start: 1000 } } };
    expect(await firstAnswer(options)).toEqual(bad(`The Lisp image did not start: ${how}`));
  });
});

describe('the heap', () => {
  test.each([
    [[], 4096],
    [['--heap=512mb'], 512],
  ])('with the flags %j has %d MB, and SBCL three times as much', async (args, megabytes) => {
    // A status that comes late on a busy machine tells no heap.
    await withSession({ args, waits: { image: { status: 60_000 } } }, async (session) => {
      expect(await session.eval('(floor (sb-ext:dynamic-space-size) (* 1024 1024))')).toMatch(
        new RegExp(`^${3 * megabytes}\n`),
      );
      expect(await session.text('image_status')).toContain(` of ${megabytes} MB; `);
    });
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
