// Lets other programs of this user connect to the running server. The server listens on the Unix socket
// session-PID.socket, in a folder that only this user can access. The file session-PID.json in this folder describes
// the server.

import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { isListening } from '../announced.ts';
import { messageOf } from '../errors.ts';
import { isRunning, makeOwnFolder } from '../ownership.ts';
import { removeIfPossible } from '../paths.ts';
import type { Session } from './sessions.ts';

/** Maximum number of octets of the path of a Unix socket. Node would cut a longer path off, and listen at the wrong
 * path. */
const PATH_LIMIT = process.platform === 'linux' ? 107 : 103;

/** Listens for connections until this process ends, and calls ON_CONNECTION with each. Writes the description of
 * SESSION to FOLDER, and removes the files of servers that were killed. Resolves with undefined when other programs can
 * connect, else with the reason why they cannot. Does not keep the process alive. */
export async function publishSession(
  folder: string,
  session: Omit<Session, 'socket'>,
  onConnection: (socket: Socket) => void,
): Promise<string | undefined> {
  const [socket, file] = ['socket', 'json'].map((end) => join(folder, `session-${session.pid}.${end}`)) as [
    string,
    string,
  ];
  if (Buffer.byteLength(socket) > PATH_LIMIT)
    return `the path ${socket} is longer than the ${PATH_LIMIT} octets of a Unix socket; name a shorter folder in LIVE_LISP_SERVING`;
  const remove = () => [socket, file].forEach(removeIfPossible);
  const server = createServer((connection) => {
    connection.unref();
    onConnection(connection);
  });
  try {
    makeOwnFolder(folder);
    await removeEnded(folder);
    remove();
    await new Promise<void>((resolve, reject) => {
      server.on('error', reject);
      server.listen(socket, resolve);
    });
    server.unref();
    // The file is renamed when it is complete, so that no reader finds half of it.
    writeFileSync(`${file}.part`, `${JSON.stringify(session)}\n`, { mode: 0o600 });
    renameSync(`${file}.part`, file);
  } catch (error) {
    server.close();
    remove();
    return messageOf(error);
  }
  process.on('exit', remove);
  return undefined;
}

/** Removes the files of ended servers from FOLDER. A server in another container can run although this system has no
 * process with its id, so a connection to its socket is tried too. */
async function removeEnded(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const [, own, pid] = /^(session-(\d+))\./.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid)) && !(await isListening(join(folder, `${own}.socket`))))
      removeIfPossible(join(folder, name));
  }
}
