// An SSH server of a test: on loopback, with keys of its own, for this user only.

import { childrenOf, commandOf, until } from '../server/processes.ts';

const SCRIPT = new URL('../../scripts/sshd.mjs', import.meta.url).href;

/** A server, as scripts/sshd.mjs starts it. */
export interface TestSshd {
  /** A command that runs another on this machine through the server. */
  ssh: string;
  /** The same with the arguments MORE for ssh, in place of the key. */
  sshWith(more: string): string;
  stop(): void;
}

/** Starts a server with its files in FOLDER. */
export async function startSshd(folder: string): Promise<TestSshd> {
  const script = (await import(SCRIPT)) as { startSshd(folder: string): Promise<TestSshd> };
  return script.startSshd(folder);
}

/** Resolves with the process of the ssh that the process PID has started. Throws an Error when there is none: a signal
 *  to number -1 would reach all processes. */
export async function sshOf(pid: number): Promise<number> {
  // Linux can leave children out while another one ends.
  const all = () => childrenOf(pid).filter((child) => commandOf(child).startsWith('ssh'));
  await until('its only ssh', 60_000, () => all().length === 1);
  const [ssh] = all();
  if (ssh === undefined) throw new Error('The server has no ssh any more.');
  return ssh;
}
