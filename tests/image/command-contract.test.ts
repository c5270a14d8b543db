// An SBCL that a command has started is an image, whatever the command writes before, and in another root than ours. With
// IMAGE_COMMAND it is the SBCL that this command starts, such as one in a container.

import { userInfo } from 'node:os';
import { SbclImage } from '../../src/image/own/sbcl-image.ts';
import { shellWords } from '../../src/words.ts';
import { testSbcl } from '../harness.ts';
import { imageContract } from '../image-contract.ts';
import { obstacle } from '../sandbox/namespaces.ts';
import { commandOptions, otherRoot } from './command-options.ts';

const BANNER = 'echo Welcome to build.; echo pulling 1/3 >&2; exec "$@"';

const given = shellWords(process.env['IMAGE_COMMAND'] ?? '') ?? [];
const here = obstacle() === undefined ? otherRoot(userInfo().homedir) : [testSbcl()];
const starting = given.length > 0 ? given : here;

imageContract(
  async (connections) =>
    new SbclImage({ ...commandOptions(['sh', '-c', BANNER, 'sh', ...starting]), ...connections }),
);
