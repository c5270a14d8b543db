// Serves the connections to the session's socket: editors of the human, and commands, which speak MCP.

import type { Socket } from 'node:net';
import { membersOf } from '../json.ts';

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
  let begin = Buffer.alloc(0);
  socket.on('data', function receive(chunk: Buffer) {
    begin = Buffer.concat([begin, chunk]);
    if (!begin.includes('\n') && begin.length < BEGIN_LIMIT) return;
    socket.off('data', receive);
    socket.pause();
    socket.unshift(begin);
    const method = methodOf(begin);
    if (method === 'live-lisp/stop') answerStop(socket, stop);
    else if (method.startsWith('live-lisp/')) editor(socket);
    else client(socket);
    socket.resume();
  });
}

/** A first message of more octets is none of an editor, and is not waited for to its end. */
const BEGIN_LIMIT = 64 * 1024;

/** Returns the method of the first message in OCTETS; '' when there is none. */
function methodOf(octets: Buffer): string {
  const [line = ''] = octets.toString().split('\n', 1);
  return String(membersOf(line)['method'] ?? '');
}

/** Answers a command that asks for the end of the server, and ends it if STOP is there. */
function answerStop(socket: Socket, stop: (() => void) | undefined): void {
  const answer =
    stop === undefined
      ? { error: { code: -32000, message: 'it serves an MCP client, which ends it' } }
      : { result: true };
  socket.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer })}\n`, stop);
}
