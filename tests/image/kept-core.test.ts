// A core with the backend in it is kept for the next image, and no image depends on what is there.

import { chmodSync, cpSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Child } from '../../src/image/process/child.ts';
import { Lifetime } from '../../src/image/process/lifetime.ts';
import {
  PROJECT,
  type Session,
  type StartOptions,
  temporaryFolder,
  testSbcl,
  untilCoreKept,
  warmCache,
} from '../harness.ts';
import { childrenOf, commandOf, gone, until } from '../server/processes.ts';
import { sharedFolder } from '../shared.ts';
import { cacheIn, coresIn, fromCore, keptCoreIn, NONE, withCache } from './cores.ts';

const SBCL = testSbcl();

const RESTARTABLE: StartOptions = { args: ['--allow', 'restart_image'] };
/** A folder with a fasl and a core, as a first start leaves it. */
const full = sharedFolder();
let folder: ReturnType<typeof temporaryFolder>;

const cores = () => coresIn(folder.path);
const keptCore = () => keptCoreIn(folder.path);
const withSession = <T>(
  use: (session: Session) => Promise<T>,
  options: StartOptions = {},
  place = folder.path,
) => withCache(use, options, place);

/** Returns the process that PID has started and that saves a core, if there is one. */
const saverOf = (pid: number) => childrenOf(pid).find((each) => commandOf(each).includes('"SAVE"'));
/** Returns the process of SESSION's server that saves a core, as soon as there is one. */
const saver = ({ pid }: Session) => until('what saves a core', 60_000, () => saverOf(pid));

beforeAll(() => warmCache(full.path));
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** Copies the fasl and the core into the folder of the test, and returns the file of the core. */
function copied(): string {
  cpSync(cacheIn(full.path), cacheIn(folder.path), { recursive: true, preserveTimestamps: true });
  return keptCore();
}

test('an image starts from it, and so does the one after a restart; an SBCL that the program starts has no backend in it', async () => {
  const bare = `(sb-ext:run-program sb-ext:*runtime-pathname*
    (list "--core" (namestring sb-ext:*core-pathname*) "--noinform" "--no-sysinit" "--no-userinit" "--eval"
      "(progn (princ (find-package :live-lisp)) (exit))") :output *standard-output*)`;
  const core = copied();
  await withSession(async (session) => {
    expect(await fromCore(session)).toBe('T');
    expect(await session.eval(bare)).toMatch(/^#<SB-IMPL::PROCESS :EXITED 0>\n\nOutput:\nNIL$/);
    await session.call('restart_image', {});
    expect(await fromCore(session)).toBe('T');
  }, RESTARTABLE);
  expect(cores()).toEqual([core]);
});

test('what a program sees of SBCL is the same with it and without', async () => {
  const form = `(let ((*print-circle* nil)) (prin1-to-string (list sb-ext:*core-pathname* sb-ext:*runtime-pathname* *modules* *features* (random 1000000)
    (sort (mapcar #'package-name (list-all-packages)) #'string<) (sb-ext:dynamic-space-size)
    (sb-ext:bytes-consed-between-gcs) (sb-int:get-floating-point-modes) sb-impl::*default-external-format*
    sb-ext:*posix-argv* (length sb-ext:*exit-hooks*) *package*)))`;
  const seen = (from: string) =>
    withSession(async (session) => {
      expect(await fromCore(session)).toBe(from);
      return session.eval(form);
    });
  const core = copied();
  const withCore = await seen('T');
  writeFileSync(core, NONE);
  expect(await seen('NIL')).toBe(withCore);
});

test('the first image starts without one; what makes it leaves the CPU to calls, only the user can write to it, and only those that were used last are kept', async () => {
  const missing = copied();
  rmSync(missing);
  const older = ['1', '2', '3', '4'].map((digit) => join(dirname(missing), `image-${digit.repeat(16)}.core`));
  const minutesAgo = (minutes: number) => Date.now() / 1000 - 60 * minutes;
  older.forEach((file, at) => {
    writeFileSync(file, 'a core');
    utimesSync(file, minutesAgo(10 - at), minutesAgo(10));
  });
  const none = join(dirname(missing), `image-${'5'.repeat(16)}.core`);
  writeFileSync(none, NONE);
  const umask = join(folder.path, 'node');
  writeFileSync(umask, `#!/bin/sh\numask 002\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
  await withSession(
    async (session) => {
      expect(await fromCore(session)).toBe('NIL');
      const maker = await saver(session);
      await until('its low priority', 60_000, () => getPriority(maker) === 5);
      process.kill(maker, 'SIGSTOP');
      expect(await session.eval('(+ 1 2)')).toBe('3');
      await session.call('restart_image', {});
      expect(await fromCore(session)).toBe('NIL');
      expect(childrenOf(session.pid)).toHaveLength(2);
      process.kill(maker, 'SIGCONT');
      const core = await untilCoreKept(folder.path);
      expect(core).toBe(missing);
      expect(statSync(core).mode & 0o777).toBe(0o600);
      await gone(maker, 60_000);
      await until('the removal', 120_000, () => !cores().includes(older[0] ?? ''));
      expect(cores().sort()).toEqual([...older.slice(2), none, core].sort());
      await session.call('restart_image', {});
      expect(await fromCore(session)).toBe('T');
    },
    { ...RESTARTABLE, args: ['--allow', 'restart_image', '--no-sandbox'], node: umask },
  );
});

test('one that is truncated is no obstacle, and is made again', async () => {
  const core = copied();
  const { ino } = statSync(core);
  truncateSync(core, 5_000_000);
  await withSession(async (session) => {
    expect(await fromCore(session)).toBe('NIL');
    await until('a new core', 60_000, () => statSync(core).ino !== ino);
    await session.call('restart_image', {});
    expect(await fromCore(session)).toBe('T');
  }, RESTARTABLE);
});

test('one that others can write is not run', async () => {
  const core = copied();
  chmodSync(core, 0o646);
  await withSession(async (session) => expect(await fromCore(session)).toBe('NIL'));
});

test('a server that ends while it is made leaves nothing of it', async () => {
  rmSync(copied());
  const maker = await withSession(async (session) => {
    await session.eval('1');
    const process = await saver(session);
    await until('a part of a core', 60_000, () => cores().length > 0);
    return process;
  });
  await gone(maker, 60_000);
  expect(cores()).toEqual([]);
});

describe('an image that is ended while it starts from it', () => {
  /** Begins to start an image from CORE in this process. The first images, KILLS of them, are KILLED at once. */
  function starting(core: string, kills = 0) {
    const options = {
      lispFolder: join(PROJECT, 'lisp'),
      cacheFolder: dirname(core),
      root: folder.path,
      heapMb: 4096,
      trees: [],
    };
    const killed: Child[] = [];
    const upcalls = (child: Child) => {
      if (killed.length < kills) {
        killed.push(child);
        queueMicrotask(() => process.kill(child.pid ?? Number.NaN, 'SIGKILL'));
      }
      return {};
    };
    const turns = {
      upcalls,
      loadStartFiles: async () => {},
      rebuild: async () => 'keep' as const,
      lost: () => {},
    };
    const lifetime = new Lifetime({ ...options, sbcl: SBCL }, turns);
    return { lifetime, ready: lifetime.ready(), killed };
  }

  /** Starts an image from a kept core after KILLS others, which were killed before they could greet. */
  async function startedAfter(kills: number) {
    for (;;) {
      const core = copied();
      const { lifetime, ready, killed } = starting(core, kills);
      const image = await ready;
      if (!killed.includes(image)) return { core, lifetime, pid: image.pid ?? 0 };
      // It was faster than this process, which waited for a CPU.
      lifetime.close();
      await image.ended;
    }
  }

  test('by the end of the server leaves it', async () => {
    const core = copied();
    const { lifetime, ready } = starting(core);
    lifetime.close();
    await expect(ready).rejects.toThrow('The server is ending.');
    expect(cores()).toEqual([core]);
  });

  test('by somebody else proves nothing against it: the next starts from it, and none is made', async () => {
    const { core, lifetime, pid } = await startedAfter(1);
    expect(commandOf(pid)).toContain(core);
    expect(saverOf(process.pid)).toBeUndefined();
    lifetime.close();
  });

  test('again and again is started from the compiled backend', async () => {
    const { lifetime, pid } = await startedAfter(2);
    expect(commandOf(pid)).toContain('LIVE_LISP_FASL');
    lifetime.close();
  });
});
