// Serves the connections to the session's socket: editors of the human, and commands, which speak MCP.

import type { Socket } from 'node:net';

/** What serves the connections of each kind. */
export interface Doors {
  editor: (socket: Socket) => void;
  client: (socket: Socket) => void;
  /** Ends the server; undefined when it serves a client of its own, which alone ends it. */
  stop?: (() => void) | undefined;
}

/** Passes SOCKET to the one of DOORS that its first message is for. */
export function admit(socket: Socket, { editor, client, stop }: Doors): void {
  socket.on('error', () => {}); // The event 'close' follows.
  socket.once('data', (chunk: Buffer) => {
    socket.pause();
    socket.unshift(chunk);
    const text = chunk.toString('latin1');
    if (text.includes('"live-lisp/stop"')) answerStop(socket, stop);
    else if (text.includes('"live-lisp/')) editor(socket);
    else client(socket);
    socket.resume();
  });
}

/** Answers a command that asks for the end of the server, and ends it if STOP is there. */
function answerStop(socket: Socket, stop: (() => void) | undefined): void {
  const answer =
    stop === undefined
      ? { error: { code: -32000, message: 'a client uses it, and ends it' } }
      : { result: true };
  socket.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer })}\n`, stop);
}
