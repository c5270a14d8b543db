// An SBCL that a command has started is an image, whatever the command writes before.

import { join } from 'node:path';
import { SbclImage } from '../../src/image/own/sbcl-image.ts';
import { cacheFolder } from '../../src/paths.ts';
import { PROJECT, testSbcl } from '../harness.ts';
import { imageContract } from '../image-contract.ts';

const BANNER = 'echo Welcome to build.; echo pulling 1/3 >&2; exec "$0"';

imageContract(
  async (connections) =>
    new SbclImage({
      command: { name: 'there', words: ['sh', '-c', BANNER, testSbcl()] },
      sbcl: undefined,
      lispFolder: join(PROJECT, 'lisp'),
      cacheFolder: cacheFolder(),
      root: PROJECT,
      heapMb: 1024,
      trees: [],
      limitMs: 60_000,
      startFiles: () => [],
      ...connections,
    }),
);
