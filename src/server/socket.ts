// Speaks MCP on a connection to the session's socket, in addition to the client that started the server.

import type { Socket } from 'node:net';
import type { RequestId } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { INTERRUPT } from '../door/outcome.ts';
import type { CommandConnection } from './perform-call.ts';
import { createServer, type ServerOptions } from './server.ts';
import { StdioTransport } from './transport.ts';

/** Speaks MCP on SOCKET until the other side ends the connection. Running calls are then cancelled. STARTING
 *  returns true while calls wait for an image to start. */
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
    // An interrupted request gets its answer, unlike one that MCP cancels.
    if ('method' in message && message.method === INTERRUPT) {
      command.interrupts.get(message.params?.['requestId'] as RequestId)?.abort();
    } else received?.(message);
  };
  // serveStdio has already set its own onclose, which cancels the calls.
  const closed = transport.onclose;
  transport.onclose = () => {
    closed?.();
    socket.end();
  };
}
