// Where bubblewrap cannot make user namespaces, as in most containers, the tests of the sandbox are left out, and those of
// file systems that do not answer. These are the only tests that can be; tests/build.ts prints why and how many.

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

/** Returns why no file system without an answer can be mounted here for a test, if none can. */
export function mountObstacle(): string | undefined {
  const { status, stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', mounting('/mnt')], {
    encoding: 'utf8',
  });
  return status === 0 ? undefined : stderr.trim();
}

/** Returns the commands of a shell that mount, on the folder DIR, a file system whose program never answers: the kernel puts
 *  its questions to descriptor 3. */
export function mounting(dir: string): string {
  return `exec 3<>/dev/fuse && mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none '${dir}'`;
}

/** `test` for what needs such a mount. */
export const mountTest = test.skipIf((obstacle() ?? mountObstacle()) !== undefined);
