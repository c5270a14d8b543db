// Builds the server and its agent once before the tests, so that they always run what the sources say.

import { execFileSync, spawnSync } from 'node:child_process';
import { PROJECT, SERVER } from './harness.ts';

export default function setup(): void {
  execFileSync(process.execPath, ['scripts/build.mjs', '--for-tests'], { cwd: PROJECT, stdio: 'inherit' });
  // Where there is no SBCL the tests that need one tell so.
  const call = ['call', 'eval_form', '{"form":"1"}'];
  spawnSync(process.execPath, [SERVER, ...call], { cwd: PROJECT, stdio: 'ignore' });
}
