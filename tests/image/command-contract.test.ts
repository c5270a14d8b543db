// An SBCL that a command has started is an image, whatever the command writes before, and in another root than ours.

import { userInfo } from 'node:os';
import { SbclImage } from '../../src/image/own/sbcl-image.ts';
import { testSbcl } from '../harness.ts';
import { imageContract } from '../image-contract.ts';
import { obstacle } from '../sandbox/namespaces.ts';
import { commandOptions, otherRoot } from './command-options.ts';

const BANNER = 'echo Welcome to build.; echo pulling 1/3 >&2; exec "$0"';

imageContract(
  async (connections) =>
    new SbclImage({ ...commandOptions(['sh', '-c', BANNER, testSbcl()]), ...connections }),
);

// In another root than ours.
if (obstacle() === undefined)
  imageContract(
    async (connections) =>
      new SbclImage({ ...commandOptions(otherRoot(userInfo().homedir)), ...connections }),
  );
