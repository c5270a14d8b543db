// Lists the sessions that run: servers that other programs of this user can connect to. Each has a file
// session-PID.json beside its socket session-PID.socket, in a folder of this user alone.

import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { readIfRegular } from '../files/regular.ts';
import { isAlive } from '../own.ts';

/** A server that other programs can connect to. */
export interface Session {
  pid: number;
  /** The folder in which relative paths of its tools start. */
  workspace: string;
  /** When it began to listen, in seconds since 1970. */
  started: number;
  version: string;
  /** Path of its Unix socket. */
  socket: string;
}

/** Maximum number of octets of a file that describes a session. */
const FILE_LIMIT = 16 * 1024;

/** Returns the sessions in FOLDER whose process lives. Returns none when other users can write in FOLDER.
 *  Ignores all files that are not as a session writes them. */
export function sessionsIn(folder: string): Session[] {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory() || !isOfUser(stats) || (stats.mode & 0o077) !== 0) return [];
  return readdirSync(folder).flatMap((name) => sessionOf(folder, name) ?? []);
}

function sessionOf(folder: string, name: string): Session | undefined {
  const pid = Number(/^session-(\d+)\.json$/.exec(name)?.[1]);
  const socket = join(folder, `session-${pid}.socket`);
  if (!(pid > 0) || !isAlive(pid) || !isSocketOfUser(socket)) return undefined;
  const { workspace, started, version, ...members } = membersOf(join(folder, name));
  const isValid =
    members['pid'] === pid &&
    isLine(workspace) &&
    isAbsolute(workspace) &&
    typeof started === 'number' &&
    !Number.isNaN(new Date(started * 1000).getTime()) &&
    isLine(version);
  return isValid ? { pid, workspace, started, version, socket } : undefined;
}

function membersOf(file: string): { readonly [name: string]: unknown } {
  try {
    if (!isOfUser(lstatSync(file))) return {};
    return Object(JSON.parse(readIfRegular(file, { limit: FILE_LIMIT })?.octets.toString() ?? ''));
  } catch {
    return {};
  }
}

/** True when VALUE is a short text without control characters, since it is shown on a terminal. */
function isLine(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 4096 && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(value);
}

function isSocketOfUser(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isSocket() === true && isOfUser(stats);
}

function isOfUser({ uid }: Stats): boolean {
  return uid === process.geteuid?.();
}
