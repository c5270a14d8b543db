// A file of lines that several processes append to, that begins anew when it is full, and that a crash may cut.

import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LineFile } from '../../src/records/lines.ts';
import { PROJECT, temporaryFolder } from '../harness.ts';

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'deep', 'er', 'log.jsonl');
});
afterEach(() => folder.remove());

const LARGE = { limit: 1_000_000, kept: 2 };

test('the lines come back, the newest first; the file and its folder are only for the user', () => {
  const lines = new LineFile(path, LARGE);
  expect([...lines.newestFirst()]).toEqual([]);
  for (const text of ['one', 'two', 'three é']) lines.append(text);
  expect([...lines.newestFirst()]).toEqual(['three é', 'two', 'one']);
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree é\n');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
});

test('with 0 kept files, a full one is removed as soon as the next is begun', () => {
  const lines = new LineFile(path, { limit: 4, kept: 0 });
  for (const text of ['one', 'two']) lines.append(text);
  expect([[...lines.newestFirst()], readdirSync(join(path, '..'))]).toEqual([['two'], ['log.jsonl']]);
});

test('a last line that a crash cut gets its end, and nothing before it is touched', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary-ascii' })), fc.nat(), (texts, cutAt) => {
      const plain = texts.map((text) => text.replaceAll('\n', ' '));
      const whole = plain.map((text) => `${text}\n`).join('');
      const before = whole.slice(0, whole.length === 0 ? 0 : cutAt % (whole.length + 1));
      new LineFile(path, LARGE).append('');
      writeFileSync(path, before);
      new LineFile(path, LARGE).append('new');
      const after = readFileSync(path, 'utf8');
      expect(after).toBe(`${before}${before === '' || before.endsWith('\n') ? '' : '\n'}new\n`);
    }),
  );
});

test('a line that another server left torn gets its end before the next, also while the file is open', () => {
  const lines = new LineFile(path, LARGE);
  lines.append('one');
  appendFileSync(path, 'torn');
  lines.append('two');
  expect(readFileSync(path, 'utf8')).toBe('one\ntorn\ntwo\n');
});

test('nothing is written or read through a link, or in what is no file', () => {
  mkdirSync(join(path, '..'), { recursive: true });
  const other = join(folder.path, 'other');
  writeFileSync(other, 'theirs\n');
  symlinkSync(other, path);
  const lines = new LineFile(path, LARGE);
  expect(() => lines.append('one')).toThrow('ELOOP');
  expect([...lines.newestFirst()]).toEqual([]);
  expect(readFileSync(other, 'utf8')).toBe('theirs\n');
  const pipe = join(folder.path, 'pipe.jsonl');
  execFileSync('mkfifo', [pipe]);
  expect(() => new LineFile(pipe, LARGE).append('one')).toThrow(`${pipe} is no regular file`);
  expect([...new LineFile(pipe, LARGE).newestFirst()]).toEqual([]);
});

test('a full file is kept under another name, the oldest of those go', () => {
  const lines = new LineFile(path, { limit: 100, kept: 2 });
  const texts = Array.from({ length: 60 }, (_, index) => `line ${String(index).padStart(4, '0')}`);
  for (const text of texts) lines.append(text);
  const files = readdirSync(join(path, '..'));
  expect(files.length).toBe(3);
  for (const file of files) expect(statSync(join(path, '..', file)).size).toBeLessThanOrEqual(100);
  const kept = [...lines.newestFirst()];
  expect(kept).toEqual(texts.reverse().slice(0, kept.length));
  expect(kept.length).toBeGreaterThan(20);
});

test('files of others beside it are neither read nor removed', () => {
  const lines = new LineFile(path, { limit: 20, kept: 1 });
  lines.append('first');
  for (const name of ['log.1.jsonl', 'log.old.jsonl', 'log.jsonl.bak', 'logs.20260101000000000-1.jsonl']) {
    writeFileSync(join(path, '..', name), 'not ours\n');
  }
  for (let count = 0; count < 20; count += 1) lines.append(`line ${count}`);
  expect([...lines.newestFirst()]).not.toContain('not ours');
  expect(readdirSync(join(path, '..')).length).toBe(4 + 2);
});

test('a file that is moved or removed while it is open is begun anew', () => {
  const lines = new LineFile(path, LARGE);
  lines.append('one');
  folder.remove();
  lines.append('two');
  expect([...lines.newestFirst()]).toEqual(['two']);
});

test('where nothing can be written, appending throws and reading finds nothing', () => {
  const lines = new LineFile('/dev/null/log.jsonl', LARGE);
  expect(() => lines.append('one')).toThrow(/EEXIST|ENOTDIR/);
  expect([...lines.newestFirst()]).toEqual([]);
  expect(() => new LineFile('/dev/full', LARGE).append('one')).toThrow('/dev/full is no regular file');
});

test('several processes that append and begin files anew lose and mix no line', async () => {
  const outfile = join(folder.path, 'lines.mjs');
  const entry = join(PROJECT, 'src', 'records', 'lines.ts');
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  appendFileSync(
    outfile,
    `const lines = new LineFile(process.argv[2], { limit: 4000, kept: 10_000 });
     for (let n = 0; n < 500; n += 1) lines.append(process.argv[3] + ' ' + n + ' ' + 'x'.repeat(n % 50));`,
  );
  const run = promisify(execFile);
  const names = ['a', 'b', 'c', 'd'];
  await Promise.all(names.map((name) => run(process.execPath, [outfile, path, name])));
  const found = [...new LineFile(path, LARGE).newestFirst()];
  const expected = names.flatMap((name) =>
    Array.from({ length: 500 }, (_, n) => `${name} ${n} ${'x'.repeat(n % 50)}`),
  );
  expect(found.sort()).toEqual(expected.sort());
});
