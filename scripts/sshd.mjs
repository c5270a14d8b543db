// Decides how an SSH server of our own is started, for tests and measurements: on loopback, with keys of its own, for this
// user only.

import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const LIMIT_MS = 60_000;

/** The program; sshd must be started by its whole path. */
export const SSHD = ['/usr/sbin/sshd', '/usr/bin/sshd', '/usr/local/sbin/sshd'].find((path) =>
  existsSync(path),
);

/**
 * @typedef {object} Sshd
 * @property {string} ssh a command that runs another on this machine through the server
 * @property {(more: string) => string} sshWith the same with other arguments for ssh in place of the key
 * @property {() => void} stop
 */

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function connects(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

/**
 * Starts a server with its files in FOLDER. These are the keys `host` of the server, `key` of whoever may log in, and
 * `other` of somebody else, and the known hosts `known` and `wrong`.
 * @param {string} folder
 * @returns {Promise<Sshd>}
 */
export async function startSshd(folder) {
  if (SSHD === undefined) throw new Error('There is no sshd: install openssh-server.');
  const port = await freePort();
  const file = (/** @type {string} */ name) => join(folder, name);
  for (const name of ['host', 'key', 'other'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(name)]);
  copyFileSync(file('key.pub'), file('authorized'));
  // As root it wants this folder.
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true });
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${file('host')}`,
    `AuthorizedKeysFile ${file('authorized')}`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
  ];
  writeFileSync(file('settings'), `${settings.join('\n')}\n`);
  for (const [hosts, key] of /** @type {const} */ ([
    ['known', 'host'],
    ['wrong', 'other'],
  ])) {
    const publicKey = execFileSync('ssh-keygen', ['-y', '-f', file(key)], { encoding: 'utf8' }).trim();
    writeFileSync(file(hosts), `[127.0.0.1]:${port} ${publicKey}\n`);
  }
  const sshd = spawn(SSHD, ['-D', '-e', '-f', file('settings')], { stdio: 'ignore' });
  const began = performance.now();
  while (!(await connects(port))) {
    if (performance.now() - began > LIMIT_MS) throw new Error('The SSH server does not listen.');
    await pause(20);
  }
  const sshWith = (/** @type {string} */ more) =>
    `ssh -F none -T -p ${port} -o UserKnownHostsFile=${file('known')} ${more} ${userInfo().username}@127.0.0.1`;
  return { ssh: sshWith(`-i ${file('key')}`), sshWith, stop: () => void sshd.kill() };
}
