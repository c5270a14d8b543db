// What becomes of the making of a core: it is kept, or there can be none, or the next server tries again.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KeptCore } from '../../src/image/process/kept-core.ts';
import { namesInFolder } from '../../src/leftovers.ts';
import { PROJECT, startSession, temporaryFolder, untilCoreKept } from '../harness.ts';
import { until } from '../server/processes.ts';

/** What stands in place of a core where there can be none. */
const NONE = 'none\n';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** Runs KeptCore.make with a program that is SBCL but for what SCRIPT does, and returns what is in the cache. */
async function makeWith(script: string): Promise<string[]> {
  const cacheFolder = join(folder.path, 'cache');
  mkdirSync(cacheFolder);
  const program = join(folder.path, 'sbcl');
  writeFileSync(program, `#!/bin/sh\numask 077\n${script}\n`, { mode: 0o755 });
  const options = {
    lispFolder: join(PROJECT, 'lisp'),
    cacheFolder,
    root: folder.path,
    heapMb: 512,
    trees: [],
  };
  await new KeptCore(options, undefined, 60_000).make(program, false);
  return readdirSync(cacheFolder).map((name) => readFileSync(join(cacheFolder, name), 'utf8'));
}
const CORE = 'head -c 9000 /dev/zero >"$LIVE_LISP_CORE"; exit';
/** Says by FROM_CORE how it ends that is started from the core, and by WITHOUT what has the backend only. */
const trial = (fromCore: string, without = 'exit 0') =>
  `case "$*" in *SAVE*) ${CORE};; --core*) ${fromCore};; esac; ${without}`;

test.each([
  ['SBCL says so', 'exit 3'],
  ['nothing starts from it that starts without it', trial('exit 1')],
])('it is said when %s', async (_, script) => {
  expect(await makeWith(script)).toEqual([NONE]);
});

test.each([
  ['SBCL fails to save it, as without memory or disk space', 'exit 1'],
  ['SBCL is killed while it saves', 'kill -9 $$'],
  ['SBCL says that it has saved one, and there is none', 'exit 0'],
  ['what starts from it is killed', trial('kill -9 $$')],
  ['nothing starts without it either', trial('exit 1', 'exit 1')],
  ['what starts without it is killed', trial('exit 1', 'kill -9 $$')],
])('it is open when %s', async (_, script) => {
  expect(await makeWith(script)).toEqual([]);
});

test('a core from which an image starts is kept', async () => {
  const [core = ''] = await makeWith(trial('exit 0'));
  expect(core).toHaveLength(9000);
});

test('what a server left that ended while the backend was compiled goes once another has made a core', async () => {
  const env = { XDG_CACHE_HOME: folder.path };
  const parts = () => namesInFolder(join(folder.path, 'live-lisp')).filter((name) => name.includes('.fasl.'));
  const first = await startSession({ env });
  const call = first.eval('1').catch(() => {});
  await until('parts of the backend', 60_000, () => parts().some((name) => name.includes(`.${first.pid}.`)));
  await first.close();
  await call;
  expect(parts()).not.toEqual([]);
  const second = await startSession({ env });
  try {
    expect(await second.eval('1')).toBe('1');
    await untilCoreKept(folder.path);
    expect(await until('an end of the parts', 60_000, () => parts().length === 0)).toBe(true);
  } finally {
    await second.close();
  }
});
