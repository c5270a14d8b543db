// What is run from the disk can only this user have written: the compiled agent, kept code and cores.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cacheUsable } from '../../src/image/process/agent.ts';
import { isOwnFile, makeOwnFolder } from '../../src/own.ts';
import { startSession, temporaryFolder, warmCache } from '../harness.ts';

let folder = temporaryFolder();
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const inFolder = (name: string) => join(folder.path, name);

describe('a file is own', () => {
  test.each([
    [0o600, true],
    [0o644, true],
    [0o664, false],
    [0o666, false],
    [0o602, false],
  ])('with mode %o: %j', (mode, own) => {
    writeFileSync(inFolder('file'), '');
    chmodSync(inFolder('file'), mode);
    expect(isOwnFile(inFolder('file'))).toBe(own);
  });

  test('only when it is a file, and no link to one', () => {
    writeFileSync(inFolder('file'), '');
    symlinkSync(inFolder('file'), inFolder('link'));
    expect([inFolder('link'), folder.path, inFolder('none')].map(isOwnFile)).toEqual([false, false, false]);
  });
});

describe('a folder for what is run', () => {
  test('is made for this user alone, and closed to others when they could reach it', () => {
    makeOwnFolder(inFolder('a/b'));
    mkdirSync(inFolder('open'));
    chmodSync(inFolder('open'), 0o777);
    makeOwnFolder(inFolder('open'));
    expect(['a', 'a/b', 'open'].map((name) => statSync(inFolder(name)).mode & 0o777)).toEqual([
      0o700, 0o700, 0o700,
    ]);
  });

  test('is none where a file stands', () => {
    writeFileSync(inFolder('file'), '');
    expect(() => makeOwnFolder(inFolder('file'))).toThrow(
      `${inFolder('file')} is not a folder that its owner alone can use; remove it`,
    );
    expect(cacheUsable(inFolder('file'))).toBe(false);
  });
});

test('a compiled agent that others can write is removed, and compiled anew', async () => {
  const cache = inFolder('live-lisp');
  warmCache(folder.path);
  for (const core of readdirSync(cache).filter((each) => each.endsWith('.core'))) rmSync(join(cache, core));
  const [name = ''] = readdirSync(cache).filter((each) => /^agent-.*\.fasl$/.test(each));
  renameSync(join(cache, name), inFolder('kept'));
  writeFileSync(join(cache, name), `(with-open-file (out "${inFolder('ran')}" :direction :output))`);
  chmodSync(join(cache, name), 0o666);
  const session = await startSession({ env: { XDG_CACHE_HOME: folder.path } });
  expect(await session.eval('(+ 1 2)')).toBe('3');
  await session.close();
  expect(existsSync(inFolder('ran'))).toBe(false);
  expect(isOwnFile(join(cache, name))).toBe(true);
});
