// A file system that does not answer, or may not, as one of a network.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  findLocalFolders,
  isOnLocalDisk,
  pendingAtLast,
  withFileTimeout,
} from '../../src/files/answering.ts';
import { PROJECT, type Session, startSession } from '../harness.ts';

/** No disk has it, so its files are read aside as those of a network are. */
const folder = mkdtempSync('/dev/shm/live-lisp-test-');
const file = join(folder, 'a.lisp');
let session: Session;
beforeAll(async () => {
  session = await startSession({ args: ['--root', folder] });
});
afterAll(async () => {
  await session.close();
  rmSync(folder, { recursive: true });
});

test('a file on a disk of this machine is near, and one in memory is not', async () => {
  // Another test of this worker may have asked for the folder PROJECT, and none for this one.
  const missing = join(PROJECT, 'none', 'a.lisp');
  expect(isOnLocalDisk(missing)).toBe(false);
  const files = [join(PROJECT, 'package.json'), missing, file];
  await findLocalFolders(files);
  expect(files.map(isOnLocalDisk)).toEqual([true, true, false]);
});

test('two silent folders are enough for no further one to be used', async () => {
  const answers: (() => void)[] = [];
  const step = () => new Promise<void>((resolve) => answers.push(resolve));
  const given = await Promise.allSettled([withFileTimeout('/one', step), withFileTimeout('/two', step)]);
  expect(given.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(withFileTimeout('/three', async () => 1)).rejects.toThrow(
    'the file system of /one does not answer; until it does, live-lisp uses only files on local disks',
  );
  for (const answer of answers) answer();
  await Promise.resolve();
  expect(await withFileTimeout('/three', async () => 1)).toBe(1);
});

test('a step without an answer is given up, no other in its folder is begun, and a process that ends waits for slow ones only', async () => {
  const answers: (() => void)[] = [];
  const step = () => new Promise<void>((resolve) => answers.push(resolve));
  const slow = withFileTimeout('/slow', step);
  const silent = withFileTimeout('/silent', step);
  let ended = false;
  const end = pendingAtLast().finally(() => {
    ended = true;
  });
  await delay(500);
  expect(ended).toBe(false);
  answers[0]?.();
  await slow;
  const silence = 'its file system does not answer';
  await expect(silent).rejects.toThrow(silence);
  expect(await end).toBe(true);
  let begun = false;
  const begin = async () => {
    begun = true;
  };
  await expect(withFileTimeout('/silent', begin)).rejects.toThrow(silence);
  expect(begun).toBe(false);
  expect(await withFileTimeout('/other', async () => 1)).toBe(1);
  answers[1]?.();
  await Promise.resolve();
  expect(await pendingAtLast()).toBe(false);
  expect(await withFileTimeout('/silent', async () => 2)).toBe(2);
});

test('S3.18 places in a file that is read aside are those of now, also after an edit', async () => {
  writeFileSync(file, '(defun aside-one () 1)\n(defun aside-two () (aside-one))\n');
  await session.call('load_file', { path: 'a.lisp' });
  const sites = async () => (await session.call('who_calls', { name: 'aside-one', sites: true })).text;
  expect(await sites()).toContain('a.lisp:2:21  (defun aside-two () (aside-one))');
  writeFileSync(file, '\n\n(defun aside-one () 1)\n\n(defun aside-two () (aside-one))\n');
  expect(await sites()).toContain('a.lisp:5:21  (defun aside-two () (aside-one))');
  rmSync(file);
  expect(await sites()).toContain('no source (a.lisp)');
  mkdirSync(file);
  expect(await sites()).toContain('no source (a.lisp)');
});
