// Builds the server and its agent once before the tests, so that they always run what the sources say.

import { execFileSync } from 'node:child_process';
import { PROJECT, startSession, untilCoreKept } from './harness.ts';

export default async function setup(): Promise<void> {
  execFileSync(process.execPath, ['scripts/build.mjs', '--for-tests'], { cwd: PROJECT, stdio: 'inherit' });
  const session = await startSession();
  try {
    // Where there is no SBCL the tests that need one tell so.
    const { isError } = await session.call('eval_form', { form: '1' });
    if (!isError) await untilCoreKept();
  } finally {
    await session.close();
  }
}
