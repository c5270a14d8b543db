// Serves MCP on connections to the session's socket. The client that started the server has a connection of its own.

import type { Socket } from 'node:net';
import type { RequestId } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { INTERRUPT } from '../door/outcome.ts';
import type { CommandConnection } from './perform-call.ts';
import { createServer, type ServerOptions } from './server.ts';
import { StdioTransport } from './transport.ts';

/** Serves MCP on SOCKET until the other side ends the connection, which cancels the running calls. STARTING returns
 * true while calls wait for an image to start. */
export function serveSocket(socket: Socket, options: ServerOptions, starting: () => boolean): void {
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
