// Reads what programs of this user announce, and connects to them: where each listens is a socket NAME.socket, and the
// file NAME.json beside it describes it, in a folder of this user alone.

import { lstatSync, type Stats } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { isAbsolute, join } from 'node:path';
import { readIfRegular } from './files/regular.ts';
import { type Members, membersOf } from './json.ts';

/** The facts that every such program announces. */
export interface Announced {
  pid: number;
  /** The folder in which its user works, or in which relative paths of its tools start. */
  workspace: string;
  /** The time at which the program began to listen, in seconds since 1970. */
  started: number;
}

/** Maximum number of octets of a file that describes a program. */
const FILE_LIMIT = 16 * 1024;

/** Returns the stats of PATH itself; undefined when there is no such file. */
export function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Returns why a folder with STATS is none of this user alone; undefined when it is one. */
export function folderFault(stats: Stats): 'no folder' | 'foreign' | 'open' | undefined {
  if (!stats.isDirectory()) return 'no folder';
  if (!isOfUser(stats)) return 'foreign';
  return (stats.mode & 0o077) === 0 ? undefined : 'open';
}

/** Returns the text of the file NAME.json in FOLDER; '' when it is no regular file of this user, or a link. Its mode
 *  does not matter, because the folder is closed to other users. */
export function announcement(folder: string, name: string): string {
  const path = join(folder, `${name}.json`);
  const stats = statsOf(path);
  if (stats?.isFile() !== true || !isOfUser(stats)) return '';
  return readIfRegular(path, { limit: FILE_LIMIT })?.octets.toString() ?? '';
}

/** Returns the facts that TEXT announces, and its MEMBERS; undefined when a fact is missing or not as a program writes
 *  it. */
export function announcedIn(text: string): (Announced & { members: Members }) | undefined {
  const members = membersOf(text);
  const { pid, workspace, started } = members;
  const isValid =
    Number(pid) > 0 &&
    (Number(pid) | 0) === pid && // Other numbers are no ids of processes.
    isLine(workspace, 4096) &&
    isAbsolute(workspace) &&
    typeof started === 'number' &&
    !Number.isNaN(new Date(started * 1000).getTime());
  return isValid ? { pid: Number(pid), workspace, started, members } : undefined;
}

/** True when VALUE is a text of at most LIMIT characters without control characters. Only such a text of an
 *  announcement is safe to show to a model or on a terminal. */
export function isLine(value: unknown, limit: number): value is string {
  return typeof value === 'string' && value.length <= limit && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(value);
}

/** True when PATH is a socket of this user, not a link to one. */
export function isOwnSocket(path: string): boolean {
  const stats = statsOf(path);
  return stats?.isSocket() === true && isOfUser(stats);
}

/** Connects to the Unix socket PATH. Resolves with the connection, or with the code of the error. */
export function openSocket(path: string): Promise<Socket | string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on('connect', () => resolve(socket));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
  });
}

/** True when a program listens on the Unix socket PATH. A socket whose queue of connections is full refuses another
 *  one, but has its program. */
export async function isListening(path: string): Promise<boolean> {
  const socket = await openSocket(path);
  if (typeof socket === 'string') return socket !== 'ECONNREFUSED' && socket !== 'ENOENT';
  socket.destroy();
  return true;
}

function isOfUser({ uid }: Stats): boolean {
  return uid === process.geteuid?.();
}
