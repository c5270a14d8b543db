// Decides how an image over ssh is set up for the bench: an SSH server on loopback, and a server of ours whose image it
// starts.

import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { SSHD, startSshd } from '../scripts/sshd.mjs';
import { connect } from './client.mjs';

/** @typedef {import('./client.mjs').Client} Client */

/**
 * Starts both for STAGE; undefined where there is no SSH server. CLOSE ends them.
 * @param {import('./contestants.mjs').Stage} stage
 * @returns {Promise<{ client: Client, close: () => Promise<void> } | undefined>}
 */
export async function elsewhereClient({ place, ours }) {
  if (SSHD === undefined) return undefined;
  // A section that is measured again starts another server, and ssh-keygen replaces no key.
  const server = await startSshd(mkdtempSync(join(place, 'sshd-')));
  const sbcl = process.env['LIVE_LISP_SBCL'] || 'sbcl';
  const client = await connect({ ...ours, args: ['--image', `there=${server.ssh} ${sbcl}`] });
  const close = async () => {
    await client.close();
    server.stop();
  };
  return { client, close };
}
