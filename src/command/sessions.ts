// Finds the session of a workspace, and starts one when there is none.

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
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Session, sessionsIn } from '../door/sessions.ts';
import { messageOf, SetupError, UsageError } from '../errors.ts';
import { withLock } from '../lock.ts';
import { isRunning, makeOwnFolder } from '../own.ts';
import { isInside, realPath } from '../paths.ts';

/** Milliseconds within which a session must take a connection. */
const CONNECT_MS = 2000;
/** Milliseconds within which a new session must listen. */
const START_MS = 60_000;
/** Milliseconds within which a session must end. */
const STOP_MS = 10_000;
const POLL_MS = 20;

/** How the session of a command is found. */
export interface Search {
  /** Folder of the files that describe sessions. */
  folder: string;
  /** The directory in which the command works, a real path. */
  directory: string;
  /** Process id of the session to use, if the user named it. */
  pid?: number;
  isTooWide: (folder: string) => boolean;
}

/** Returns the sessions that serve the directory of SEARCH: those of the innermost workspace that contains it.
 *  A workspace that is too wide counts only for its own folder. */
export function fittingSessions({ folder, directory, isTooWide }: Search): Session[] {
  const fits = sessionsIn(folder)
    .map((session) => ({ session, workspace: realPath(session.workspace) }))
    .filter(({ workspace }) => isInside(workspace, directory))
    .filter(({ workspace }) => workspace === directory || !isTooWide(workspace));
  const longest = Math.max(...fits.map(({ workspace }) => workspace.length));
  return fits.filter(({ workspace }) => workspace.length === longest).map(({ session }) => session);
}

/** Resolves with a connection to the session that SEARCH finds, and with undefined when there is none. Throws a
 *  UsageError when several fit, or when the session that the user named is gone. */
export async function findSession(search: Search): Promise<{ session: Session; socket: Socket } | undefined> {
  const { folder, pid } = search;
  const fits =
    pid === undefined ? fittingSessions(search) : sessionsIn(folder).filter((each) => each.pid === pid);
  const connected = [];
  for (const session of fits) {
    const socket = await connectTo(session);
    if (socket !== undefined) connected.push({ session, socket });
  }
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

/** Connects to SESSION. Resolves with undefined when it does not listen any more, or does not take the
 *  connection in time. */
export function connectTo(session: Session): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(session.socket);
    const timer = setTimeout(() => done(undefined), CONNECT_MS);
    const done = (result: Socket | undefined) => {
      clearTimeout(timer);
      socket.removeAllListeners();
      socket.on('error', () => {}); // The event 'close' follows.
      if (result === undefined) socket.destroy();
      resolve(result);
    };
    socket.on('connect', () => done(socket));
    socket.on('error', () => done(undefined));
  });
}

/** Returns the workspace of a new session for DIRECTORY: the innermost folder around it with a repository, else
 *  DIRECTORY. Throws a UsageError when this is too wide. */
export function newWorkspace({ directory, isTooWide }: Search): string {
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

/** Starts a session for WORKSPACE in the background by PROGRAM, unless another command is starting one, and
 *  resolves with the connection to it. Throws a SetupError when it does not start. */
export async function startSession(
  search: Search,
  workspace: string,
  program: readonly string[],
): Promise<{ session: Session; socket: Socket; isNew: boolean }> {
  checkStart(search.folder, workspace);
  const deadline = Date.now() + START_MS;
  const lock = join(search.folder, `starting-${Buffer.from(workspace).toString('base64url').slice(-100)}`);
  let isLocked = false;
  let child: ReturnType<typeof spawnSession> | undefined;
  try {
    while (Date.now() < deadline) {
      const found = await findSession({ ...search, directory: workspace });
      if (found !== undefined) return { ...found, isNew: child !== undefined };
      if (child?.hasEnded())
        throw new SetupError(`The session for ${workspace} did not start: ${child.log()}`);
      // With the lock it looks once more, since the command that had the lock before can have started one.
      if (isLocked) child ??= spawnSession(search.folder, workspace, program);
      isLocked ||= takeLock(lock);
      await delay(POLL_MS);
    }
    throw new SetupError(`The session for ${workspace} did not start within ${START_MS / 1000} seconds.`);
  } finally {
    if (isLocked) rmSync(lock, { force: true });
    child?.removeLog();
  }
}

/** Throws an error that says what to change when no session can start for WORKSPACE or be found in FOLDER. */
function checkStart(folder: string, workspace: string): void {
  if (!statSync(workspace, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`There is no folder ${workspace}. Name the folder of a project: --root DIR.`);
  try {
    makeOwnFolder(folder);
  } catch (error) {
    throw unusable(folder, error);
  }
  if (!lstatSync(folder).isDirectory())
    throw new SetupError(
      `${folder} is a link, and sessions are not looked for behind links. Remove it, or name another folder in LIVE_LISP_SERVING.`,
    );
}

function unusable(folder: string, error: unknown): SetupError {
  return new SetupError(
    `Sessions cannot be kept in ${folder} (${messageOf(error)}). Make that possible, or name another folder in LIVE_LISP_SERVING.`,
  );
}

/** Creates the file LOCK, with the id of this process. Returns false when another command holds it. */
function takeLock(lock: string): boolean {
  try {
    return withLock(`${lock}-change`, () => {
      if (isHeld(lock, Number(readIfThere(lock)))) return false;
      writeFileSync(lock, String(process.pid), { mode: 0o600 });
      return true;
    });
  } catch (error) {
    throw unusable(dirname(lock), error);
  }
}

/** True when the process OWNER can still be starting a session under LOCK. An older file is of a process that was
 *  killed, and whose id another one has now. */
function isHeld(lock: string, owner: number): boolean {
  const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return owner > 0 && isRunning(owner) && Date.now() - made < 2 * START_MS;
}

/** Returns the text of FILE; undefined when there is no such file. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

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

/** Has the session behind SOCKET end. Resolves when it has ended; with the reason when it refuses, or does not end
 *  in time. */
export function stopSession(socket: Socket): Promise<string | undefined> {
  socket.setEncoding('utf8');
  let text = '';
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.write('{"jsonrpc":"2.0","id":1,"method":"live-lisp/stop"}\n');
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      socket.destroy();
      resolve('it does not answer. If it hangs, end its process with kill -9');
    }, STOP_MS);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(refusalIn(text));
    });
  });
}

/** Returns the message of the error in TEXT, an answer of JSON-RPC; undefined when there is none. */
function refusalIn(text: string): string | undefined {
  try {
    const { error } = Object(JSON.parse(text || '{}')) as { error?: { message: string } };
    return error?.message;
  } catch {
    return 'its answer is no JSON';
  }
}
