// Images that serve, as a person has them: an SBCL with the backend, and its files.

import type { ChildProcess } from 'node:child_process';
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Served } from '../../src/image/wire/served.ts';
import { temporaryFolder } from '../harness.ts';
import { until } from '../server/processes.ts';
import { startSbcl } from './attached-sbcl.ts';

/** Returns a new folder for images that serve, which only its user can use. */
export function servingPlace(): { path: string; remove: () => void } {
  const folder = temporaryFolder();
  chmodSync(folder.path, 0o700);
  return folder;
}

/** Returns what an image NAME in FOLDER writes of itself, with MORE. */
export function described(folder: string, name: string, more: Partial<Served> = {}): Served {
  return {
    name,
    pid: process.pid,
    workspace: '/nowhere',
    socket: join(folder, `${name}.socket`),
    started: 1_795_000_000,
    lisp: 'SBCL 2.2.9',
    ...more,
  };
}

/** Writes the file of the image that SERVED describes. */
export function publish(folder: string, served: Served): Served {
  writeFileSync(join(folder, `${served.name}.json`), JSON.stringify(served), { mode: 0o600 });
  return served;
}

/** Listens on the Unix socket PATH, and never says a word. */
export function listen(path: string): Promise<Server> {
  const server = createServer();
  return new Promise((resolve) => server.listen(path, () => resolve(server)));
}

/** An image of a person that serves. */
export interface ServingSbcl {
  sbcl: ChildProcess;
  served: Served;
  /** Kills it, and resolves when its process has ended. Its files stay. */
  kill: () => Promise<void>;
}

/** Starts an SBCL that serves WORKSPACE in FOLDER, and gives it the NAME there. */
export async function startServing(folder: string, name: string, workspace: string): Promise<ServingSbcl> {
  const { sbcl, socket } = await startSbcl(folder);
  const served = described(folder, name, { workspace, pid: sbcl.pid ?? -1 });
  renameSync(socket, served.socket);
  publish(folder, served);
  rmSync(socket.replace(/socket$/, 'json'));
  const kill = async () => {
    sbcl.kill('SIGKILL');
    await until('its end', 60_000, () => sbcl.exitCode !== null || sbcl.signalCode !== null);
  };
  return { sbcl, served, kill };
}
