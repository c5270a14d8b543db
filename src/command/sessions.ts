// Finds the session for a directory, starts one if there is none, and stops one. A session is a server that commands
// can connect to. A lock file lets only one process at a time begin `live-lisp session` for a workspace. findOrStart
// takes the lock before it spawns that command. If a user runs the command, beginSession takes the lock.

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
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isLine } from '../announced.ts';
import { Connection } from '../door/connection.ts';
import { IDLE_MINUTES } from '../door/idle.ts';
import { connectTo, type Session, sessionsIn } from '../door/sessions.ts';
import { messageOf, SetupError, UsageError } from '../errors.ts';
import { withLock } from '../lock.ts';
import { complain } from '../output.ts';
import { isRunning, makeOwnFolder } from '../ownership.ts';
import { isInside, isTooWide, withFoldersAbove } from '../paths.ts';

/** Milliseconds in which a new session must listen on its socket. */
const START_MS = 60_000;
/** Milliseconds in which a session must end. */
const STOP_MS = 10_000;
const POLL_MS = 20;

/** The search for the session that a command uses. */
export interface Search {
  /** The folder of the files by which running sessions announce themselves. */
  folder: string;
  /** The real path of the directory in which the command works. */
  directory: string;
  /** True when the user named the directory. A new session then takes it as the workspace. */
  isNamed: boolean;
  /** Process id of the session, if the user named a session. */
  pid?: number;
}

/** A session, and a connection to it. */
export interface Connected {
  session: Session;
  socket: Socket;
}

/** Connects to each of SESSIONS, and resolves with those that accept the connection. */
export async function connectedAmong(sessions: readonly Session[]): Promise<Connected[]> {
  const connected = await Promise.all(
    sessions.map(async (session) => ({ session, socket: await connectTo(session) })),
  );
  return connected.filter((each): each is Connected => each.socket !== undefined);
}

/** Connects to the sessions that fit the directory of the search. A session fits when its workspace contains the
 * directory; of several, only those with the innermost workspace fit. A workspace that is too wide, such as a home
 * folder, fits only when it is the directory itself. */
async function fittingSessions({ folder, directory }: Search): Promise<Connected[]> {
  const fitting = sessionsIn(folder).filter(
    ({ workspace }) => isInside(workspace, directory) && (workspace === directory || !isTooWide(workspace)),
  );
  const connected = await connectedAmong(fitting);
  const longest = Math.max(...connected.map(({ session }) => session.workspace.length));
  const isInnermost = ({ session }: Connected) => session.workspace.length === longest;
  for (const each of connected) if (!isInnermost(each)) each.socket.destroy();
  return connected.filter(isInnermost);
}

/** Connects to the session that SEARCH finds. Resolves with undefined when there is none. Throws a UsageError when
 * there are several, or when the user named a session that has ended. */
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

/** Returns a line about SESSION: its process id, start time, version and workspace. */
export function sessionLine({ pid, started, version, workspace }: Session): string {
  return `${pid}  since ${new Date(started * 1000).toLocaleString('sv')}  ${version}  ${workspace}`;
}

/** Returns the workspace for a new session: the nearest folder around DIRECTORY that contains a repository, or
 * DIRECTORY if there is none. Throws a UsageError when this workspace would be too wide. */
function newWorkspace(directory: string): string {
  const found = withFoldersAbove(directory).find((folder) => existsSync(join(folder, '.git')));
  const workspace = found === undefined || isTooWide(found) ? directory : found;
  if (!isTooWide(workspace)) return workspace;
  throw new UsageError(
    `${workspace} is or contains the home folder, so it cannot be a workspace. Run this in the folder of a project, or name that folder: --root DIR.`,
  );
}

/** Connects to the session that SEARCH finds. If there is none, runs PROGRAM in the background to start one, and says
 * so on stderr. If another command is starting one already, waits for that one. Throws a SetupError when no session
 * starts in time. */
export async function findOrStart(search: Search, program: readonly string[]): Promise<Connected> {
  const found = await findSession(search);
  if (found !== undefined) return found;
  const { folder } = search;
  const workspace = search.isNamed ? search.directory : newWorkspace(search.directory);
  checkWorkspace(workspace);
  const deadline = Date.now() + START_MS;
  const lock = lockFor(folder, workspace);
  let hasLock = false;
  let child: ReturnType<typeof spawnSession> | undefined;
  try {
    while (Date.now() < deadline) {
      const started = await findSession({ ...search, directory: workspace });
      if (started !== undefined && child !== undefined)
        complain(
          `Started a session for ${workspace} (process ${started.session.pid}). It ends ${IDLE_MINUTES} minutes after its last call, or with live-lisp stop.`,
        );
      if (started !== undefined) return started;
      if (child?.hasEnded())
        throw new SetupError(`The session for ${workspace} did not start: ${child.log()}`);
      // After this process has taken the lock, it calls findSession once more before it spawns a session: the previous
      // owner of the lock may have started one in the meantime.
      if (hasLock) child ??= spawnSession(folder, workspace, program);
      hasLock ||= takeLock(folder, lock) === undefined;
      await delay(POLL_MS);
    }
    throw new SetupError(
      `The session for ${workspace} did not start within ${START_MS / 1000} seconds. live-lisp doctor checks the set-up.`,
    );
  } finally {
    if (hasLock) rmSync(lock, { force: true });
    child?.removeLog();
  }
}

/** Throws a UsageError when WORKSPACE cannot be the workspace of a session. */
function checkWorkspace(workspace: string): void {
  if (!statSync(workspace, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`There is no folder ${workspace}. Name the folder of a project: --root DIR.`);
  if (!isLine(workspace, 4096))
    throw new UsageError(
      `The name of ${JSON.stringify(workspace)} has a control character, so no session can be found there. Rename the folder.`,
    );
}

/** Makes this process the only one that starts a session for WORKSPACE: takes the lock for it, if the command that
 * spawned this process does not hold the lock already. Waits while another process holds the lock. Resolves with a
 * function that gives the lock back. The caller must call it when other programs can connect to this session. Throws a
 * SetupError when the other process has started a session. */
export async function beginSession(folder: string, workspace: string): Promise<() => void> {
  const lock = lockFor(folder, workspace);
  let hasWaited = false;
  for (;;) {
    const owner = takeLock(folder, lock);
    if (owner === process.ppid) return () => {};
    if (owner === undefined) break;
    hasWaited = true;
    await delay(POLL_MS);
  }
  const giveBack = () => {
    process.off('exit', giveBack);
    rmSync(lock, { force: true });
  };
  process.on('exit', giveBack);
  // A session that was there before is no obstacle. Look only for one that the process with the lock has started.
  const [other] = hasWaited
    ? await connectedAmong(sessionsIn(folder).filter((session) => session.workspace === workspace))
    : [];
  if (other === undefined) return giveBack;
  other.socket.destroy();
  throw new SetupError(
    `Another process has just started a session for ${workspace} (process ${other.session.pid}), so this process ends. Use that session, or end it with live-lisp stop and run this command again.`,
  );
}

/** Returns the path of the lock that a process in FOLDER holds while it starts a session for WORKSPACE. */
function lockFor(folder: string, workspace: string): string {
  return join(folder, `starting-${Buffer.from(workspace).toString('base64url').slice(-100)}`);
}

/** Tries to make this process the one that starts a session: writes its process id to the file LOCK in FOLDER. Returns
 * undefined on success, else the id of the process that holds LOCK. Throws a SetupError when the files of sessions
 * cannot be written to FOLDER. */
function takeLock(folder: string, lock: string): number | undefined {
  try {
    makeOwnFolder(folder);
    if (!lstatSync(folder).isDirectory()) throw new Error('it is a link, which is not followed');
    return withLock(`${lock}-change`, () => {
      const owner = Number(readIfThere(lock));
      if (isHeld(lock, owner)) return owner;
      writeFileSync(lock, String(process.pid), { mode: 0o600 });
      return undefined;
    });
  } catch (error) {
    throw new SetupError(
      `Sessions cannot be kept in ${folder} (${messageOf(error)}). Make it a folder that you can write to, or name another in LIVE_LISP_SERVING.`,
    );
  }
}

/** Returns true when the process OWNER, whose id is in the file LOCK, may still be starting a session. If LOCK is older
 * than a start can take, OWNER was killed, and its id may belong to another process now. If LOCK is from the future,
 * the clock was set back. */
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

/** Starts PROGRAM as a session for WORKSPACE. The process is detached from this one, and its stderr goes to a log file
 * in FOLDER. */
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
  // Without a listener, a failed spawn would end this process. hasEnded reports the failure.
  child.on('error', () => {});
  return {
    hasEnded: () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined,
    log: () => readIfThere(file)?.trim() || 'it ended without saying why',
    removeLog: () => rmSync(file, { force: true }),
  };
}

/** Asks the session at the other end of SOCKET to end. Resolves with undefined when the session has ended. Otherwise
 * resolves with the reason why the session refuses, or with a sentence that it did not end in time. */
export async function stopSession(socket: Socket): Promise<string | undefined> {
  const connection = new Connection(socket, () => {});
  const timer = setTimeout(() => connection.end(), STOP_MS);
  const answered = await connection.request('live-lisp/stop', {});
  await connection.ended;
  clearTimeout(timer);
  if (answered === undefined) return 'it does not answer. If it hangs, end its process with kill -9';
  return 'error' in answered ? answered.error : undefined;
}
