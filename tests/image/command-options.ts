// What the tests give to an image that a command starts.

import { join } from 'node:path';
import type { SbclOptions } from '../../src/image/own/sbcl-image.ts';
import { cacheFolder } from '../../src/paths.ts';
import { PROJECT } from '../harness.ts';

/** Returns the options of the image that the command WORDS starts. */
export function commandOptions(words: readonly string[]): SbclOptions {
  return {
    command: { name: 'there', words },
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
