// Opens the socket of a session for commands, which speak MCP, and for the human's editors.

import { admit } from '../door/admit.ts';
import { publishSession } from '../door/door.ts';
import type { Editors } from '../door/editors.ts';
import { IDLE_MINUTES, whenIdle } from '../door/idle.ts';
import { sessionsFolder } from '../paths.ts';
import type { ServerOptions } from './server.ts';
import { serveSocket } from './socket.ts';

export interface DoorOptions extends ServerOptions {
  editors: Editors;
  /** The folder for the sockets of images and sessions; undefined when this user has no home folder. */
  folder: string | undefined;
  workspace: string;
  /** Returns the session's page. ON_LOOK is called when a browser begins to show it, and returns a function to
   *  call when it has ended that. */
  page: (onLook: () => () => void) => { link: () => Promise<string> };
  /** True while calls wait for an image to start. */
  starting: () => boolean;
  /** Ends the image. Given for a server without a client of its own, which exits when it is idle, or by a
   *  command or signal. */
  onEnd?: () => Promise<void>;
  /** The reason why no command may end a server without onEnd. */
  stopRefusal?: string;
  /** Number of milliseconds from the last connection to the exit of such a server, instead of the default. */
  idleMs?: number | undefined;
}

/** Opens the socket of this session. Resolves with undefined when other programs can connect, or with the
 *  reason for a failure. */
export async function serveSessionSocket(options: DoorOptions): Promise<string | undefined> {
  const { folder, workspace, editors, page, starting, onEnd, stopRefusal = '', idleMs, version } = options;
  if (folder === undefined) return 'there is no home folder';
  const end = onEnd && (() => void onEnd().finally(() => process.exit(0)));
  const connected = end ? whenIdle(idleMs ?? IDLE_MINUTES * 60_000, end) : () => () => {};
  // Neither the socket nor its connections keep the process alive.
  if (end) setInterval(() => {}, 60_000);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) if (end) process.on(signal, end);
  const ownPage = page(connected);
  const facts = { pid: process.pid, workspace, started: Math.floor(Date.now() / 1000), version };
  return publishSession(sessionsFolder(folder), facts, (socket) =>
    admit(socket, {
      editor: (editor) => editors.connect(editor),
      client: (client) => {
        client.on('close', connected());
        serveSocket(client, options, starting);
      },
      page: () => ownPage.link(),
      stop: end ?? stopRefusal,
    }),
  );
}
