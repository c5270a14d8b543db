// scripts/room.mjs knows where the tests of each room are, for `make test ROOM=...`, scripts/sbcl-platforms.mjs which are the
// main ones, and slow.json which take long.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../harness.ts';
import { FILES } from './files.ts';

const TESTS = FILES.filter((path) => path.endsWith('.test.ts'));

test('each folder of lisp/ and src/tools/ has tests, and each path that is named leads to some', () => {
  const printed = execFileSync(process.execPath, ['scripts/room.mjs'], { cwd: PROJECT, encoding: 'utf8' });
  const rooms = printed.trimEnd().split('\n');
  expect(rooms.length).toBeGreaterThan(10);
  for (const [room = '', ...paths] of rooms.map((line) => line.split(' '))) {
    expect(paths, room).not.toEqual([]);
    const empty = paths.filter((path) => !TESTS.some((file) => file.startsWith(path)));
    expect(empty, room).toEqual([]);
  }
});

test('each of the main tests is there', () => {
  const print = "import { MAIN } from './scripts/sbcl-platforms.mjs'; console.log(MAIN.join(' '))";
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', print], { cwd: PROJECT });
  const main = printed.toString('utf8').trimEnd().split(' ');
  expect(main.filter((path) => !TESTS.includes(path))).toEqual([]);
});

test('each of the tests that take long is there', () => {
  const slow: string[] = JSON.parse(readFileSync(join(PROJECT, 'tests', 'slow.json'), 'utf8'));
  expect(slow.length).toBeGreaterThan(50);
  expect(slow.filter((path) => !TESTS.includes(path))).toEqual([]);
});
