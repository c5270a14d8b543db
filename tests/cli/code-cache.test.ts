// What V8 made of the program is kept for the next start, and a start never depends on what is there.

import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { loadBundle } from '../../src/code-cache.ts';
import { startSession, warmCache } from '../harness.ts';
import { until } from '../server/processes.ts';
import { sharedFolder } from '../shared.ts';

const SOURCE = `exports.answer = function answer() { return ${JSON.stringify('x'.repeat(3000))}.length; };`;

const folder = sharedFolder();
const bundle = join(folder.path, 'bundle.cjs');
let round = 0;
let cache = '';
beforeEach(() => {
  cache = join(folder.path, `cache-${++round}`);
});

/** Loads a bundle of SOURCE and calls what it exports; returns the length that this gives and how to keep its code. */
function load(source = SOURCE): { length: number; store: () => void } {
  writeFileSync(bundle, source);
  const identity = createHash('sha256').update(source).digest('hex');
  const { exports, store } = loadBundle(bundle, identity, cache);
  return { length: (exports as { answer: () => number }).answer(), store };
}

/** Returns the files of the cache. */
function kept(): string[] {
  return existsSync(cache) ? readdirSync(cache).map((name) => join(cache, name)) : [];
}

/** Keeps the code of SOURCE and returns its file. */
function keepOnce(): string {
  load().store();
  const [file = ''] = kept();
  return file;
}

/** Returns whether the next start takes the code in FILE: it has nothing to keep then. */
function isTaken(file: string): boolean {
  const before = statSync(file).ino;
  const { length, store } = load();
  expect(length).toBe(3000);
  store();
  expect(kept()).toEqual([file]);
  return statSync(file).ino === before;
}

test('what is kept is for this user alone, and the next start takes it', () => {
  const file = keepOnce();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(isTaken(file)).toBe(true);
});

test('another bundle, also of the same length, has code of its own', () => {
  const file = keepOnce();
  const { length, store } = load(SOURCE.replace('.length', '.indexOf').replace('();', "('y');"));
  expect(length).not.toBe(3000);
  store();
  expect(kept()).toHaveLength(2);
  expect(kept()).toContain(file);
});

test.each([
  ['cut', (code: Buffer) => code.subarray(0, code.length - 100)],
  [
    'with one octet that differs',
    (code: Buffer) => code.fill(code.at(-9) === 1 ? 2 : 1, code.length - 9, code.length - 8),
  ],
])('code that is %s is not taken, and replaced', (_, damage) => {
  const file = keepOnce();
  writeFileSync(file, damage(readFileSync(file)));
  expect(isTaken(file)).toBe(false);
  expect(isTaken(file)).toBe(true);
});

test('code that others could have written is not taken', () => {
  const file = keepOnce();
  chmodSync(file, 0o620);
  expect(isTaken(file)).toBe(false);
  chmodSync(file, 0o644);
  expect(isTaken(file)).toBe(true);
});

test('code of other versions that was not used for 30 days goes when new code is kept', () => {
  const file = keepOnce();
  const [old, recent] = ['program-1-v20.0.0-x64.v8', 'program-2-v20.0.0-x64.v8'] as const;
  for (const name of [old, recent]) writeFileSync(join(cache, name), '');
  utimesSync(join(cache, old), 1_700_000_000, 1_700_000_000);
  rmSync(file);
  load().store();
  expect(readdirSync(cache).sort()).toEqual([basename(file), recent].sort());
});

test('where nothing can be kept nothing is', () => {
  writeFileSync(cache, 'a file');
  const { length, store } = load();
  store();
  expect(length).toBe(3000);
  expect(readFileSync(cache, 'utf8')).toBe('a file');
});

test.each(['/proc/x', '/dev/null/cache'])('a folder that cannot be made, %s, is no obstacle', (path) => {
  cache = path;
  const { length, store } = load();
  store();
  expect(length).toBe(3000);
  expect(existsSync(path)).toBe(false);
});

test('the program keeps its code once it serves, and starts with code that is damaged', async () => {
  warmCache(cache);
  for (let kept = programCode(); kept !== undefined; kept = programCode()) rmSync(kept);
  const file = await serveUntil(() => programCode());
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, readFileSync(file).fill(0, 2000, 3000));
  const damaged = readFileSync(file);
  await serveUntil(() => (readFileSync(file).equals(damaged) ? undefined : file));
});

function programCode(): string | undefined {
  const folder = join(cache, 'live-lisp');
  const name = existsSync(folder)
    ? readdirSync(folder).find((file) => /^program-.*\.v8$/.test(file))
    : undefined;
  return name && join(folder, name);
}

/** Has the real server serve a call with the cache of this test until FOUND returns a file, and returns that. */
async function serveUntil(found: () => string | undefined): Promise<string> {
  const session = await startSession({ env: { XDG_CACHE_HOME: cache } });
  expect(await session.eval('(+ 1 2)')).toBe('3');
  const file = await until('the code of the program', 30_000, found);
  await session.close();
  return file;
}
