// What the tests give to an image that a command starts.

import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SbclOptions } from '../../src/image/own/sbcl-image.ts';
import { cacheFolder } from '../../src/paths.ts';
import { PROJECT, testSbcl } from '../harness.ts';

/** Returns the options of the image that the command WORDS starts. */
export function commandOptions(words: readonly string[]): SbclOptions {
  return {
    command: { name: 'there', words, maps: [] },
    sbcl: undefined,
    lispFolder: join(PROJECT, 'lisp'),
    cacheFolder: cacheFolder(),
    root: PROJECT,
    heapMb: 1024,
    trees: [],
    limitMs: 60_000,
    startFiles: () => [],
  };
}

/** Returns the command of an SBCL in a root that has the system's programs, an empty home HOME, and the folders BOUND
 *  under their names there. Such a root stands for a container, since containers cannot run where the tests do. */
export function otherRoot(home: string, bound: Readonly<Record<string, string>> = {}): string[] {
  const sbcl = testSbcl();
  const prefix = join(dirname(sbcl), '..');
  const system = ['/usr', '/bin', '/lib', '/lib64', '/etc'];
  // The backend is compiled once for all tests.
  const backends = join(home, '.cache', 'live-lisp', 'backends');
  mkdirSync(backends, { recursive: true, mode: 0o700 });
  return [
    ...['bwrap', '--unshare-all', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
    ...system.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--dir', home, '--bind', backends, backends, '--ro-bind', prefix, prefix],
    ...Object.entries(bound).flatMap(([here, there]) => ['--ro-bind', here, there]),
    sbcl,
  ];
}
