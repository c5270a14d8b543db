// Serves MCP on a connection to the session's socket, beside the client that started the server.

import type { Socket } from 'node:net';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createServer, type ServerOptions } from './server.ts';
import { StdioTransport } from './transport.ts';

/** Serves MCP on SOCKET until the other side ends the connection. Calls that still run then are cancelled.
 *  STARTING returns true while calls wait for an image to start. */
export function serveSocket(socket: Socket, options: ServerOptions, starting: () => boolean): void {
  const transport = new StdioTransport({
    stdin: socket,
    stdout: socket,
    complain: () => {}, // The answer to a wrong message says what is wrong.
    onFirstAnswer: () => {},
    starting,
    onOverdue: async () => {},
  });
  serveStdio(() => createServer({ ...options, list: 'full', tellsOutcome: true }), {
    transport,
    onerror: () => {},
  });
  // serveStdio has set an onclose of its own by now, which cancels the calls.
  const closed = transport.onclose;
  transport.onclose = () => {
    closed?.();
    socket.end();
  };
}
