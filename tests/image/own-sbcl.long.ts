// An SBCL other than the one that packages install: whether a core is kept for it. One in a root where the backend cannot be
// kept.

import { copyFileSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NO_SYSTEMS, type Session, type StartOptions, temporaryFolder, testSbcl } from '../harness.ts';
import { sandboxTest } from '../sandbox/namespaces.ts';
import { until } from '../server/processes.ts';
import { coresIn, fromCore, keptCoreIn, NONE, withCache } from './cores.ts';

const SBCL = testSbcl();
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const withSession = <T>(use: (session: Session) => Promise<T>, options: StartOptions) =>
  withCache(use, options, folder.path);

describe('an SBCL of one’s own', () => {
  /** Copies SBCL into the folder of the test and returns the program and its core. */
  function ownSbcl() {
    const program = join(folder.path, 'bin', 'sbcl');
    const core = join(folder.path, 'lib', 'sbcl', 'sbcl.core');
    for (const file of [program, core]) mkdirSync(dirname(file), { recursive: true });
    copyFileSync(SBCL, program);
    copyFileSync('/usr/lib/sbcl/sbcl.core', core);
    return { program, core };
  }

  /** Evaluates in SESSION, and returns what is in the place of a core then: another program has another name for it. */
  async function afterFirst(session: Session): Promise<string> {
    await session.eval('(+ 1 2)');
    await until('a core or none', 120_000, () => coresIn(folder.path).some((name) => name.endsWith('.core')));
    return keptCoreIn(folder.path);
  }

  test('whose core has changed is started from that, and a new core is kept', async () => {
    const { program, core } = ownSbcl();
    const options = { args: ['--sbcl', program], env: { SBCL_HOME: dirname(core) } };
    const kept = await withSession((session) => afterFirst(session), options);
    const { ino } = statSync(kept);
    await withSession(async (session) => expect(await fromCore(session)).toBe('T'), options);
    utimesSync(core, 1_700_000_000, 1_700_000_000);
    await withSession(async (session) => {
      expect(await fromCore(session)).toBe('NIL');
      await until('a new core', 120_000, () => statSync(kept).ino !== ino);
    }, options);
    await withSession(async (session) => expect(await fromCore(session)).toBe('T'), options);
  });

  test('that another program starts gets none, and is not asked again', async () => {
    const program = join(folder.path, 'sbcl');
    writeFileSync(program, `#!/bin/sh\necho x >>"${folder.path}/starts"\nexec ${SBCL} "$@"\n`, {
      mode: 0o755,
    });
    const options = { args: ['--sbcl', program] };
    const starts = () => readFileSync(join(folder.path, 'starts'), 'utf8').length / 2;
    const kept = await withSession((session) => afterFirst(session), options);
    expect(readFileSync(kept, 'utf8')).toBe(NONE);
    const before = starts();
    await withSession(async (session) => expect(await fromCore(session)).toBe('NIL'), options);
    expect(starts()).toBe(before + 1);
  });
});

sandboxTest('the backend is used where it cannot be kept', async () => {
  const home = join(folder.path, 'home');
  mkdirSync(home);
  const root = `bwrap --ro-bind / / --ro-bind ${home} ${userInfo().homedir} --dev /dev --proc /proc --tmpfs /tmp`;
  await withSession(async (session) => expect(await session.eval('(+ 1 2)')).toBe('3'), {
    args: [...NO_SYSTEMS, '--image', `there=${root} ${SBCL}`],
  });
});
