// An SBCL that a command has started is an image, whatever the command writes before, and in another root than ours.

import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { SbclImage } from '../../src/image/own/sbcl-image.ts';
import { testSbcl } from '../harness.ts';
import { imageContract } from '../image-contract.ts';
import { obstacle } from '../sandbox/namespaces.ts';
import { commandOptions } from './command-options.ts';

const BANNER = 'echo Welcome to build.; echo pulling 1/3 >&2; exec "$0"';

imageContract(
  async (connections) =>
    new SbclImage({ ...commandOptions(['sh', '-c', BANNER, testSbcl()]), ...connections }),
);

/** A root that has the system's programs and nothing of ours, as a container does. Containers cannot run where the
 *  tests do. */
const OTHER_ROOT = [
  ...['bwrap', '--unshare-all', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
  ...['/usr', '/bin', '/lib', '/lib64', '/etc'].flatMap((path) => ['--ro-bind-try', path, path]),
  ...[
    '--dir',
    userInfo().homedir,
    '--ro-bind',
    join(dirname(testSbcl()), '..'),
    join(dirname(testSbcl()), '..'),
  ],
];

if (obstacle() === undefined)
  imageContract(
    async (connections) => new SbclImage({ ...commandOptions([...OTHER_ROOT, testSbcl()]), ...connections }),
  );
