// Lists the running sessions: servers that other programs of this user can connect to. Each session has a socket
// session-PID.socket and a file session-PID.json, in a folder that only this user can access.

import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import {
  type Announced,
  announcedIn,
  announcement,
  folderFault,
  isLine,
  isOwnSocket,
  openSocket,
  statsOf,
} from '../announced.ts';
import { SetupError } from '../errors.ts';
import { realPath } from '../paths.ts';

/** A running server to which other programs can connect. */
export interface Session extends Announced {
  version: string;
  /** Path of its Unix socket. */
  socket: string;
}

/** Returns the sessions that FOLDER announces, with the real paths of their workspaces. Returns none when other users
 * can access FOLDER, and ignores files that no session can have written. A returned session may have ended: only a
 * connection to it shows this. Its process id does not, because in a container or a sandbox the id can belong to
 * another process or to none. */
export function sessionsIn(folder: string): Session[] {
  const stats = statsOf(folder);
  if (stats === undefined || folderFault(stats) !== undefined) return [];
  return readdirSync(folder).flatMap((file) => sessionOf(folder, file) ?? []);
}

function sessionOf(folder: string, file: string): Session | undefined {
  const [, name = '', pid] = /^(session-(\d+))\.json$/.exec(file) ?? [];
  if (pid === undefined) return undefined;
  const found = announcedIn(announcement(folder, name));
  if (found?.pid !== Number(pid)) return undefined;
  const { members, ...facts } = found;
  const { version } = members;
  const socket = join(folder, `${name}.socket`);
  return isLine(version, 100) && isOwnSocket(socket)
    ? { ...facts, workspace: realPath(facts.workspace), version, socket }
    : undefined;
}

/** Connects to SESSION. Resolves with undefined when SESSION has ended. Throws a SetupError when the system does not
 * allow this process to connect. */
export async function connectTo({ workspace, socket: path }: Session): Promise<Socket | undefined> {
  const socket = await openSocket(path);
  if (typeof socket !== 'string') return socket;
  if (socket !== 'EPERM' && socket !== 'EACCES') return undefined;
  throw new SetupError(
    `A session of ${workspace} is registered, but the system does not let this process connect to it (${socket}, ${path}). If this process runs in a sandbox, allow network access and Unix sockets there, or run this command outside the sandbox.`,
  );
}
