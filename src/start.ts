// Starts the program after the version of Node was checked. scripts/build.mjs puts the bundle into the folder of this
// file.

import { join } from 'node:path';
import { loadBundle } from './code-cache.ts';
import { messageOf } from './errors.ts';
import { beforeExit, checkAnswering } from './files/answering.ts';
import { cacheFolder } from './paths.ts';
import type { runProgram } from './program.ts';

/** The digest of the bundle's text. The build defines this constant. */
declare const BUNDLE_IDENTITY: string;

/** Runs the command that the command line of this process names. Resolves with a reason when nothing can run, because
 * the file system of the folder for compiled files does not answer. Otherwise resolves with undefined. */
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
