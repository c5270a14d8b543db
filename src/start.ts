// Starts the program once this Node is known to be able to run it. The bundle is beside this file; see
// scripts/build.mjs.

import { join } from 'node:path';
import { loadBundle } from './code-cache.ts';
import { messageOf } from './errors.ts';
import { beforeExit, checkAnswering } from './files/answering.ts';
import { cacheFolder } from './paths.ts';
import type { runProgram } from './program.ts';

/** Digest of the bundle's text, inserted by the build. */
declare const BUNDLE_IDENTITY: string;

/** Runs the command on this process's command line. Returns why that is impossible, if the folder for compiled files
 *  does not answer. */
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
