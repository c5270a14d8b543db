// Where bubblewrap cannot make user namespaces, as in most containers, the tests of the sandbox are left out. These are the
// only tests that can be; tests/build.ts prints why and how many.

import { spawnSync } from 'node:child_process';
import { test } from 'vitest';

const TRIAL = ['--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', 'true'];

/** Returns why this machine makes no user namespaces, if it makes none. */
export function obstacle(): string | undefined {
  const { error, status, stderr } = spawnSync('bwrap', TRIAL, { encoding: 'utf8' });
  if (status === 0) return undefined;
  return error?.message ?? stderr.trim();
}

/** `test` for what needs user namespaces. */
export const sandboxTest = test.skipIf(obstacle() !== undefined);
