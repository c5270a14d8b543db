// What code has put into a temporary folder of the server is removed in steps, so that other calls do not wait long.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { removeTemporaryFolders } from '../../src/temporary-folder.ts';
import { temporaryFolder } from '../harness.ts';

// A folder of its own, because other servers start meanwhile.
const temporary = temporaryFolder();
vi.stubEnv('TMPDIR', temporary.path);
afterAll(() => {
  vi.unstubAllEnvs();
  temporary.remove();
});

test('a folder that is full is removed in steps', async () => {
  const folder = join(temporary.path, 'live-lisp-99999999-filled');
  mkdirSync(join(folder, 'inner'), { recursive: true });
  for (let count = 0; count < 10_100; count += 1) writeFileSync(join(folder, 'inner', `${count}`), '');
  const removal = removeTemporaryFolders();
  expect(readdirSync(join(folder, 'inner'))).toHaveLength(101);
  await removal;
  expect(existsSync(folder)).toBe(false);
});
