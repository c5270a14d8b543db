// Our own SBCL is an image.

import { join } from 'node:path';
import { SbclImage } from '../../src/image/own/sbcl-image.ts';
import { cacheFolder } from '../../src/paths.ts';
import { PROJECT } from '../harness.ts';
import { imageContract } from '../image-contract.ts';

imageContract(
  async (connections) =>
    new SbclImage({
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
