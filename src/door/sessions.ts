// Lists the sessions that run: servers that other programs of this user can connect to. Each has a file
// session-PID.json beside its socket session-PID.socket, in a folder of this user alone.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Announced,
  announcedIn,
  announcement,
  folderFault,
  isLine,
  isOwnSocket,
  statsOf,
} from '../announced.ts';
import { isRunning } from '../own.ts';

/** A server that other programs can connect to. */
export interface Session extends Announced {
  version: string;
  /** Path of its Unix socket. */
  socket: string;
}

/** Returns the sessions in FOLDER whose processes run; none when other users can access FOLDER. Ignores
 *  files that no session has written. */
export function sessionsIn(folder: string): Session[] {
  const stats = statsOf(folder);
  if (stats === undefined || folderFault(stats) !== undefined) return [];
  return readdirSync(folder).flatMap((file) => sessionOf(folder, file) ?? []);
}

function sessionOf(folder: string, file: string): Session | undefined {
  const [, name = '', pid] = /^(session-(\d+))\.json$/.exec(file) ?? [];
  if (pid === undefined || !isRunning(Number(pid))) return undefined;
  const found = announcedIn(announcement(folder, name));
  if (found?.pid !== Number(pid)) return undefined;
  const { members, ...facts } = found;
  const { version } = members;
  const socket = join(folder, `${name}.socket`);
  return isLine(version, 100) && isOwnSocket(socket) ? { ...facts, version, socket } : undefined;
}
