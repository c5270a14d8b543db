// Finds the session that serves a directory, starts one when there is none, and stops one. A session is a
// server that commands can connect to.

import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isLine } from '../announced.ts';
import { Connection } from '../door/connection.ts';
import { IDLE_MINUTES } from '../door/idle.ts';
import { connectTo, type Session, sessionsIn } from '../door/sessions.ts';
import { messageOf, SetupError, UsageError } from '../errors.ts';
import { withLock } from '../lock.ts';
import { complain } from '../output.ts';
import { isRunning, makeOwnFolder } from '../ownership.ts';
import { isInside, isTooWide } from '../paths.ts';

/** Time limit, in milliseconds, for a new session to listen. */
const START_MS = 60_000;
/** Time limit, in milliseconds, for a session to end. */
const STOP_MS = 10_000;
const POLL_MS = 20;

/** Which session a command looks for. */
export interface Search {
  /** Folder of the files by which sessions announce themselves. */
  folder: string;
  /** The directory in which the command works, a real path. */
  directory: string;
  /** True when the user named the directory, which is the workspace for a new session then. */
  isNamed: boolean;
  /** Process id of the session to use, if the user named it. */
  pid?: number;
}

/** A session, and a connection to it. */
export interface Connected {
  session: Session;
  socket: Socket;
}

/** Connects to those of SESSIONS that accept it. */
export async function connectedAmong(sessions: readonly Session[]): Promise<Connected[]> {
  const connected = await Promise.all(
    sessions.map(async (session) => ({ session, socket: await connectTo(session) })),
  );
  return connected.filter((each): each is Connected => each.socket !== undefined);
}

/** Connects to the sessions for the directory of a search: those whose workspace contains it, and of these the
 *  ones with the innermost workspace. A workspace that is too wide, such as a home folder, counts only for
 *  exactly its own directory. */
async function fittingSessions({ folder, directory }: Search): Promise<Connected[]> {
  const fits = sessionsIn(folder).filter(
    ({ workspace }) => isInside(workspace, directory) && (workspace === directory || !isTooWide(workspace)),
  );
  const connected = await connectedAmong(fits);
  const longest = Math.max(...connected.map(({ session }) => session.workspace.length));
  const isInnermost = ({ session }: Connected) => session.workspace.length === longest;
  for (const each of connected) if (!isInnermost(each)) each.socket.destroy();
  return connected.filter(isInnermost);
}

/** Connects to the session that SEARCH finds. Resolves with undefined when there is none. Throws a
 *  UsageError when there are several, or when the session that the user named is gone. */
export async function findSession(search: Search): Promise<Connected | undefined> {
  const { folder, pid } = search;
  const connected =
    pid === undefined
      ? await fittingSessions(search)
      : await connectedAmong(sessionsIn(folder).filter((each) => each.pid === pid));
  const [first, ...more] = connected;
  if (first === undefined && pid !== undefined)
    throw new UsageError(`No session has the process id ${pid}; live-lisp sessions lists them.`);
  if (first !== undefined && more.length > 0) {
    for (const { socket } of connected) socket.destroy();
    throw new UsageError(
      `Several sessions serve ${first.session.workspace}:\n${connected.map(({ session }) => sessionLine(session)).join('\n')}\nName one by its process id: --session ${first.session.pid}.`,
    );
  }
  return first;
}

/** Returns SESSION as a line: process id, start, version and workspace. */
export function sessionLine({ pid, started, version, workspace }: Session): string {
  return `${pid}  since ${new Date(started * 1000).toLocaleString('sv')}  ${version}  ${workspace}`;
}

/** Returns the workspace for a new session: the nearest folder around DIRECTORY that has a repository,
 *  else DIRECTORY. Throws a UsageError when that is too wide. */
function newWorkspace(directory: string): string {
  const found = ancestors(directory).find((folder) => existsSync(join(folder, '.git')));
  const workspace = found === undefined || isTooWide(found) ? directory : found;
  if (!isTooWide(workspace)) return workspace;
  throw new UsageError(
    `${workspace} is or contains the home folder, so it cannot be a workspace. Run this in the folder of a project, or name that folder: --root DIR.`,
  );
}

function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}

/** Connects to the session that SEARCH finds. When there is none, starts one by running PROGRAM in the background, and
 *  says so on stderr; or waits for the one that another command is starting. Throws a SetupError when none starts in
 *  time. */
export async function findOrStart(search: Search, program: readonly string[]): Promise<Connected> {
  const found = await findSession(search);
  if (found !== undefined) return found;
  const { folder } = search;
  const workspace = search.isNamed ? search.directory : newWorkspace(search.directory);
  checkWorkspace(workspace);
  const deadline = Date.now() + START_MS;
  const lock = join(folder, `starting-${Buffer.from(workspace).toString('base64url').slice(-100)}`);
  let isLocked = false;
  let child: ReturnType<typeof spawnSession> | undefined;
  try {
    while (Date.now() < deadline) {
      const started = await findSession({ ...search, directory: workspace });
      if (started !== undefined && child !== undefined)
        complain(
          `Started a session for ${workspace} (process ${started.session.pid}). It ends ${IDLE_MINUTES} minutes after its last call, or by live-lisp stop.`,
        );
      if (started !== undefined) return started;
      if (child?.hasEnded())
        throw new SetupError(`The session for ${workspace} did not start: ${child.log()}`);
      // Spawns only in the round after this process took the lock, because the previous owner of the lock
      // can have started a session after findSession looked.
      if (isLocked) child ??= spawnSession(folder, workspace, program);
      isLocked ||= takeLock(folder, lock);
      await delay(POLL_MS);
    }
    throw new SetupError(`The session for ${workspace} did not start within ${START_MS / 1000} seconds.`);
  } finally {
    if (isLocked) rmSync(lock, { force: true });
    child?.removeLog();
  }
}

/** Throws a UsageError when WORKSPACE cannot be one. */
function checkWorkspace(workspace: string): void {
  if (!statSync(workspace, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`There is no folder ${workspace}. Name the folder of a project: --root DIR.`);
  if (!isLine(workspace, 4096))
    throw new UsageError(
      `The name of ${JSON.stringify(workspace)} has a control character, so no session can be found there. Rename the folder.`,
    );
}

/** Makes this process the one that starts the session: writes its id to the file LOCK in FOLDER. Returns false when
 *  another command is the one. Throws a SetupError when FOLDER cannot hold the files of sessions. */
function takeLock(folder: string, lock: string): boolean {
  try {
    makeOwnFolder(folder);
    if (!lstatSync(folder).isDirectory()) throw new Error('it is a link, which is not followed');
    return withLock(`${lock}-change`, () => {
      if (isHeld(lock, Number(readIfThere(lock)))) return false;
      writeFileSync(lock, String(process.pid), { mode: 0o600 });
      return true;
    });
  } catch (error) {
    throw new SetupError(
      `Sessions cannot be kept in ${folder} (${messageOf(error)}). Make that possible, or name another folder in LIVE_LISP_SERVING.`,
    );
  }
}

/** True when the process OWNER, named in the file LOCK, may still be starting a session. If the file is
 *  older than a start can take, OWNER was killed, and another process has its id now. If the time of the
 *  file is in the future, the clock was set back. */
function isHeld(lock: string, owner: number): boolean {
  const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return owner > 0 && isRunning(owner) && Math.abs(Date.now() - made) < 2 * START_MS;
}

/** Returns the text of FILE; undefined when there is no such file. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Runs PROGRAM as a session for WORKSPACE, detached from this process, with its stderr in a log file in
 *  FOLDER. */
function spawnSession(folder: string, workspace: string, [program = '', ...args]: readonly string[]) {
  const file = join(folder, `log-${process.pid}`);
  const log = openSync(file, 'w', 0o600);
  const child = spawn(program, [...args, 'session', '--root', workspace], {
    cwd: workspace,
    detached: true,
    stdio: ['ignore', 'ignore', log],
  });
  closeSync(log);
  child.unref();
  child.on('error', () => {});
  return {
    hasEnded: () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined,
    log: () => readIfThere(file)?.trim() || 'it ended without saying why',
    removeLog: () => rmSync(file, { force: true }),
  };
}

/** Asks the session behind SOCKET to end. Resolves when it has ended, or with the reason when it refuses or
 *  does not end in time. */
export async function stopSession(socket: Socket): Promise<string | undefined> {
  const connection = new Connection(socket, () => {});
  const timer = setTimeout(() => connection.end(), STOP_MS);
  const answered = await connection.request('live-lisp/stop', {});
  await connection.ended;
  clearTimeout(timer);
  if (answered === undefined) return 'it does not answer. If it hangs, end its process with kill -9';
  return 'error' in answered ? answered.error : undefined;
}
