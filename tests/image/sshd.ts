// An SSH server of a test: on loopback, with keys of its own, for this user only.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { childrenOf, commandOf, until } from '../server/processes.ts';

const SSHD = existsSync('/usr/sbin/sshd') ? '/usr/sbin/sshd' : 'sshd';

export interface TestSshd {
  /** A command that runs another on this machine through the server. */
  ssh: string;
  /** The same with the arguments MORE for ssh. */
  sshWith(more: string): string;
  stop(): void;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

/** Resolves with the process of the ssh that the process PID has started. Throws an Error when there is none: a signal to
 *  number -1 would reach all processes. */
export async function sshOf(pid: number): Promise<number> {
  // Linux can leave children out while another one ends.
  const all = () => childrenOf(pid).filter((child) => commandOf(child).startsWith('ssh'));
  await until('its only ssh', 10_000, () => all().length === 1);
  const [ssh] = all();
  if (ssh === undefined) throw new Error('The server has no ssh any more.');
  return ssh;
}

/** Starts a server with its files in FOLDER. */
export async function startSshd(folder: string): Promise<TestSshd> {
  const port = await freePort();
  const [host, key, other] = ['host', 'key', 'other'].map((name) => {
    const file = join(folder, name);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
    return file;
  });
  copyFileSync(`${key}.pub`, join(folder, 'authorized'));
  // As root it wants this folder.
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true });
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${host}`,
    `AuthorizedKeysFile ${join(folder, 'authorized')}`,
    'PidFile none',
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'AcceptEnv *',
  ];
  writeFileSync(join(folder, 'settings'), `${settings.join('\n')}\n`);
  const publicKey = (file: string | undefined) =>
    execFileSync('ssh-keygen', ['-y', '-f', `${file}`], { encoding: 'utf8' }).trim();
  writeFileSync(join(folder, 'known'), `[127.0.0.1]:${port} ${publicKey(host)}\n`);
  writeFileSync(join(folder, 'wrong'), `[127.0.0.1]:${port} ${publicKey(other)}\n`);
  const sshd: ChildProcess = spawn(SSHD, ['-D', '-e', '-f', join(folder, 'settings')], { stdio: 'ignore' });
  await until('the SSH server', 10_000, () => connects(port));
  const to = `${userInfo().username}@127.0.0.1`;
  const sshWith = (more: string) =>
    `ssh -F none -T -p ${port} -o BatchMode=no -o UserKnownHostsFile=${join(folder, 'known')} ${more} ${to}`;
  return { ssh: sshWith(`-i ${key}`), sshWith, stop: () => void sshd.kill() };
}
