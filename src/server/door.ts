// Opens the session's socket, to which commands (as MCP clients) and the human's editors connect, and serves MCP on the
// connections of commands.

import type { Socket } from 'node:net';
import type { RequestId } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { admit } from '../door/admit.ts';
import { publishSession } from '../door/door.ts';
import type { Editors } from '../door/editors.ts';
import { IDLE_MINUTES, whenIdle } from '../door/idle.ts';
import { INTERRUPT } from '../door/outcome.ts';
import { sessionsFolder } from '../paths.ts';
import type { CommandConnection } from './perform-call.ts';
import { createServer, type ServerOptions } from './server.ts';
import { StdioTransport } from './transport.ts';

export interface DoorOptions extends ServerOptions {
  editors: Editors;
  /** The folder for the sockets of images and sessions; undefined when this user has no home folder. */
  folder: string | undefined;
  workspace: string;
  /** Returns the session's page. ON_LOOK is called when a browser begins to show the page. It returns a function that
   * is called when the browser stops showing the page. */
  page: (onLook: () => () => void) => { link: () => Promise<string> };
  /** True while calls wait for an image to start. */
  starting: () => boolean;
  /** Ends the image. Given only for a server without a client of its own, which exits when it is idle, or when a
   * command or a signal asks for it. */
  onEnd?: () => Promise<void>;
  /** For a server without `onEnd`: the reason that a command gets when it asks the server to end. */
  stopRefusal?: string;
  /** Milliseconds after which a server with `onEnd` exits when nothing is connected; undefined for the default. */
  idleMs?: number | undefined;
}

/** Opens the socket of this session. Resolves with undefined when other programs can connect to it, else with the
 * reason why they cannot. */
export async function serveSessionSocket(options: DoorOptions): Promise<string | undefined> {
  const { folder, workspace, editors, page, starting, onEnd, stopRefusal = '', idleMs, version } = options;
  if (folder === undefined) return 'there is no home folder';
  const end = onEnd && (() => void onEnd().finally(() => process.exit(0)));
  const connected = end ? whenIdle(idleMs ?? IDLE_MINUTES * 60_000, end) : () => () => {};
  // The socket and its connections do not keep the process alive, so a timer must.
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

/** Serves MCP on SOCKET until the other side ends the connection, which cancels the running calls. STARTING returns
 * true while calls wait for an image to start. */
function serveSocket(socket: Socket, options: ServerOptions, starting: () => boolean): void {
  const transport = new StdioTransport({
    stdin: socket,
    stdout: socket,
    complain: () => {}, // The answer to a wrong message says what is wrong.
    onFirstAnswer: () => {},
    starting,
    onOverdue: async () => {},
  });
  const command: CommandConnection = { reader: options.executor.command(), interrupts: new Map() };
  serveStdio(() => createServer({ ...options, list: 'full', command }), { transport, onerror: () => {} });
  const received = transport.onmessage;
  transport.onmessage = (message) => {
    // An interrupted request still gets an answer, unlike a request that is cancelled by MCP.
    if ('method' in message && message.method === INTERRUPT) {
      command.interrupts.get(message.params?.['requestId'] as RequestId)?.abort();
    } else received?.(message);
  };
  // serveStdio has already set onclose to a function that cancels the calls, so that function must still be called.
  const closed = transport.onclose;
  transport.onclose = () => {
    closed?.();
    socket.end();
  };
}
