// Builds the server once before the tests, so that they always run what the sources say.

import { execFileSync } from 'node:child_process';
import { PROJECT } from './harness.ts';

export default function setup(): void {
  execFileSync(process.execPath, ['scripts/build.mjs', '--for-tests'], { cwd: PROJECT, stdio: 'inherit' });
}
