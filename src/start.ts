// Starts the program after the check of this Node. scripts/build.mjs puts the bundle beside this file.

import { join } from 'node:path';
import { loadBundle } from './code-cache.ts';
import { messageOf } from './errors.ts';
import { beforeExit, checkAnswering } from './files/answering.ts';
import { cacheFolder } from './paths.ts';
import type { runProgram } from './program.ts';

/** Digest of the bundle's text, inserted by the build. */
declare const BUNDLE_IDENTITY: string;

/** Runs the command of this process's command line. When the file system of the folder for compiled files
 *  does not answer, nothing can run, and the reason is returned. Otherwise returns undefined. */
export async function start(): Promise<string | undefined> {
  const cache = cacheFolder();
  try {
    await checkAnswering([cache]);
  } catch (error) {
    await beforeExit();
    return messageOf(error);
  }
  const { exports, store } = loadBundle(join(import.meta.dirname, 'program.cjs'), BUNDLE_IDENTITY, cache);
  const program = exports as { runProgram: typeof runProgram };
  await program.runProgram({ onWarm: store });
  return undefined;
}
