// Lists the sessions that run: servers that other programs of this user can connect to. Each has a file
// session-PID.json beside its socket session-PID.socket, in a folder of this user alone.

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

/** A server that other programs can connect to. */
export interface Session extends Announced {
  version: string;
  /** Path of its Unix socket. */
  socket: string;
}

/** Returns the sessions that FOLDER announces, with real paths of their workspaces; none when other users can access FOLDER. Ignores files that no
 *  session has written. Only a connection shows whether a session still runs: in a container or a sandbox, its process
 *  id can be that of another process, or of none. */
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

/** Connects to SESSION. Resolves with undefined when it has ended. Throws a SetupError when the system does not allow
 *  this process to connect. */
export async function connectTo({ workspace, socket: path }: Session): Promise<Socket | undefined> {
  const socket = await openSocket(path);
  if (typeof socket !== 'string') return socket;
  if (socket !== 'EPERM' && socket !== 'EACCES') return undefined;
  throw new SetupError(
    `A session of ${workspace} is announced, but this process may not connect to it (${socket}, ${path}), as in a sandbox. Allow the sandbox network access and Unix sockets, or run this command outside.`,
  );
}
