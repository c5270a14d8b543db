// What is run from the disk can only this user have written: the compiled backend, kept code and cores.

import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cacheUsable, compiledBackend, isCompiled } from '../../src/image/process/backend.ts';
import { isOwnFile, makeOwnFolder } from '../../src/ownership.ts';
import { LISP, temporaryFolder } from '../harness.ts';

let folder = temporaryFolder();
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const inFolder = (name: string) => join(folder.path, name);

describe('a file is own', () => {
  test.each([
    [0o644, true],
    [0o664, false],
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
      `${inFolder('file')} is not a folder that you own; remove it`,
    );
    expect(cacheUsable(inFolder('file'))).toBe(false);
  });
});

describe('a compiled backend', () => {
  const backends = () => ({
    lispFolder: LISP,
    cacheFolder: folder.path,
    root: folder.path,
    heapMb: 512,
    trees: [],
  });
  const fasl = () => `${compiledBackend(backends())}-2.0.0.fasl`;

  test('that this user alone can write is there', () => {
    expect(isCompiled(backends())).toBe(false);
    writeFileSync(fasl(), '');
    chmodSync(fasl(), 0o644);
    expect(isCompiled(backends())).toBe(true);
  });

  test('that others can write is none, and removed', () => {
    writeFileSync(fasl(), '');
    chmodSync(fasl(), 0o666);
    expect([isCompiled(backends()), existsSync(fasl())]).toEqual([false, false]);
  });
});
