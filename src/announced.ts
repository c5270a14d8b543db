// Reads the announcements of this user's programs. In a folder of this user alone, each program has a socket
// NAME.socket, and its description NAME.json.

import { lstatSync, type Stats } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { isAbsolute, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readIfRegular } from './files/regular.ts';
import { type Members, membersOf } from './json.ts';

/** The data in every announcement. */
export interface Announced {
  pid: number;
  /** The folder of its user's work, or the start of relative paths of its tools. */
  workspace: string;
  /** The time when the program began to listen, in seconds since 1970. */
  started: number;
}

const FILE_LIMIT = 16 * 1024;

/** Returns the stats of PATH itself, even if it is a link; undefined when there is no such file. */
export function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Returns the reason why a folder with STATS is not for this user alone; undefined when it is. */
export function folderFault(stats: Stats): 'no folder' | 'foreign' | 'open' | undefined {
  if (!stats.isDirectory()) return 'no folder';
  if (!isOfUser(stats)) return 'foreign';
  return (stats.mode & 0o077) === 0 ? undefined : 'open';
}

/** Returns the text of the file NAME.json in FOLDER; '' when it is no regular file of this user, or a link.
 *  Its mode does not matter, because the folder is closed to other users. */
export function announcement(folder: string, name: string): string {
  const path = join(folder, `${name}.json`);
  const stats = statsOf(path);
  if (stats?.isFile() !== true || !isOfUser(stats)) return '';
  return readIfRegular(path, { limit: FILE_LIMIT })?.octets.toString() ?? '';
}

/** Returns the data in TEXT, with all members of its JSON in `members`; undefined when required data is
 *  missing or malformed. */
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

/** How long a socket is tried whose queue of connections is full. */
const FULL_QUEUE_MS = 5000;

/** Connects to the Unix socket PATH. Resolves with the connection, or with the code of the error. */
export async function openSocket(path: string): Promise<Socket | string> {
  const deadline = performance.now() + FULL_QUEUE_MS;
  for (;;) {
    const result = await tryToConnect(path);
    if (result !== 'EAGAIN' || performance.now() > deadline) return result;
    await delay(20);
  }
}

function tryToConnect(path: string): Promise<Socket | string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on('connect', () => resolve(socket));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
  });
}

/** True when a program listens on the Unix socket PATH. A full queue of connections also refuses a
 *  connection, but shows that a program listens. */
export async function isListening(path: string): Promise<boolean> {
  const socket = await tryToConnect(path);
  if (typeof socket === 'string') return socket !== 'ECONNREFUSED' && socket !== 'ENOENT';
  socket.destroy();
  return true;
}

function isOfUser({ uid }: Stats): boolean {
  return uid === process.geteuid?.();
}
