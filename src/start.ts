// Decides how the program is started once this Node is known to run it. The bundle is beside this file; see
// scripts/build.mjs.

import { join } from 'node:path';
import { loadBundle } from './code-cache.ts';
import { cacheFolder } from './paths.ts';
import type { runProgram } from './program.ts';

/** The digest of the bundle's text, which the build puts here. */
declare const BUNDLE_IDENTITY: string;

/** Runs the command that the arguments of this process ask for. */
export async function start(): Promise<void> {
  const { exports, keep } = loadBundle(
    join(import.meta.dirname, 'program.cjs'),
    BUNDLE_IDENTITY,
    cacheFolder(),
  );
  const program = exports as { runProgram: typeof runProgram };
  await program.runProgram({ onWarm: keep });
}
