// What code has put into a temporary folder of the server is removed in steps, so that other calls do not wait long.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { removeTemporaryFolders } from '../../src/temporary-folder.ts';

// A folder of its own, because other servers start meanwhile, and in memory, where files are made in no time.
const temporary = mkdtempSync('/dev/shm/live-lisp-test-');
vi.stubEnv('TMPDIR', temporary);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true });
});

test('a folder that is full is removed in steps', async () => {
  const folder = join(temporary, 'live-lisp-99999999-filled');
  mkdirSync(join(folder, 'inner'), { recursive: true });
  for (let count = 0; count < 10_100; count += 1) writeFileSync(join(folder, 'inner', `${count}`), '');
  const removal = removeTemporaryFolders();
  expect(readdirSync(join(folder, 'inner'))).toHaveLength(101);
  await removal;
  expect(existsSync(folder)).toBe(false);
});
