// Reads how running programs of this user announce themselves. In a folder that only this user can access, each program
// has a socket NAME.socket, and a file NAME.json that describes the program.

import { lstatSync, type Stats } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { isAbsolute, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readIfRegular } from './files/regular.ts';
import { type Members, membersOf } from './json.ts';

/** The data that each announcement contains. */
export interface Announced {
  pid: number;
  /** The workspace of a session, or the folder in which the user of an image works. */
  workspace: string;
  /** The time when the program began to listen, as a number of seconds since 1970. */
  started: number;
}

const FILE_LIMIT = 16 * 1024;

/** Returns the stats of PATH; if PATH is a link, of the link. Returns undefined when PATH does not exist. */
export function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Returns the reason why other users may access a folder that has STATS; undefined when only this user can. */
export function folderFault(stats: Stats): 'no folder' | 'foreign' | 'open' | undefined {
  if (!stats.isDirectory()) return 'no folder';
  if (!isOfUser(stats)) return 'foreign';
  return (stats.mode & 0o077) === 0 ? undefined : 'open';
}

/** Returns the text of the file NAME.json in FOLDER. Returns '' when it is a link, or is not a regular file of this
 * user. The mode of the file does not matter, because other users cannot access FOLDER. */
export function announcement(folder: string, name: string): string {
  const path = join(folder, `${name}.json`);
  const stats = statsOf(path);
  if (stats?.isFile() !== true || !isOfUser(stats)) return '';
  return readIfRegular(path, { limit: FILE_LIMIT })?.octets.toString() ?? '';
}

/** Returns the announcement in TEXT, with all members of its JSON as `members`. Returns undefined when required data is
 * missing or malformed. */
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

/** Returns true when VALUE is a string of at most LIMIT characters without control characters. Other strings of an
 * announcement must not be shown to a model or on a terminal. */
export function isLine(value: unknown, limit: number): value is string {
  return typeof value === 'string' && value.length <= limit && /^[^\p{C}\p{Zl}\p{Zp}]+$/u.test(value);
}

/** Returns true when PATH is a socket of this user. A link to a socket does not count. */
export function isOwnSocket(path: string): boolean {
  const stats = statsOf(path);
  return stats?.isSocket() === true && isOfUser(stats);
}

/** Milliseconds for which to try again when the queue of a socket is full. */
const FULL_QUEUE_MS = 5000;

/** Connects to the Unix socket PATH. Resolves with the connection or, when this fails, with the error code. */
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

/** Returns true when a program listens on the Unix socket PATH. If the connection fails because the queue of the socket
 * is full, a program listens too. */
export async function isListening(path: string): Promise<boolean> {
  const socket = await tryToConnect(path);
  if (typeof socket === 'string') return socket !== 'ECONNREFUSED' && socket !== 'ENOENT';
  socket.destroy();
  return true;
}

function isOfUser({ uid }: Stats): boolean {
  return uid === process.geteuid?.();
}
