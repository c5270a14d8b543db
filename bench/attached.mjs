// Decides how an image that somebody else runs is set up for the bench: an SBCL that has been given the line.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from './client.mjs';

/** @typedef {import('./client.mjs').Client} Client */

const SERVED_LIMIT_MS = 120_000;

/**
 * Starts an SBCL that serves the folder of STAGE, and a server that works in it. CLOSE ends both.
 * @param {import('./contestants.mjs').Stage} stage
 * @returns {Promise<{ client: Client, close: () => Promise<void> }>}
 */
export async function attachedClient({ place, ours }) {
  const serving = join(place, 'attached');
  mkdirSync(serving, { mode: 0o700 });
  const line = `(load ${JSON.stringify(join(place, 'lisp', 'attach.lisp'))})`;
  const options = [
    '--noinform',
    '--no-sysinit',
    '--no-userinit',
    '--eval',
    line,
    '--eval',
    '(loop (sleep 1))',
  ];
  const env = { ...process.env, LIVE_LISP_SERVING: serving };
  const sbcl = spawn(process.env['LIVE_LISP_SBCL'] || 'sbcl', options, {
    cwd: ours.folder,
    env,
    stdio: 'ignore',
  });
  const began = performance.now();
  while (!existsSync(join(serving, `sbcl-${sbcl.pid}.json`))) {
    if (sbcl.exitCode !== null || performance.now() - began > SERVED_LIMIT_MS)
      throw new Error('An SBCL that was given the line of lisp/attach.lisp does not serve.');
    await pause(50);
  }
  const client = await connect({
    ...ours,
    args: ['--image', `sbcl-${sbcl.pid}`],
    env: { LIVE_LISP_SERVING: serving },
  });
  const close = async () => {
    await client.close();
    sbcl.kill('SIGKILL');
    rmSync(serving, { recursive: true, force: true });
  };
  return { client, close };
}
