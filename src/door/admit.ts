// Accepts the connections to a session's socket, and passes each to what serves it: an editor of the human,
// or a command, which speaks MCP.

import type { Socket } from 'node:net';
import { membersOf } from '../json.ts';

interface Doors {
  editor: (socket: Socket) => void;
  client: (socket: Socket) => void;
  /** Ends the server. Undefined for a server with a client of its own, which only that client ends. */
  stop?: (() => void) | undefined;
}

/** Reads the first message on SOCKET, and passes SOCKET to the function that serves such connections. */
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

/** A first message that is longer than this, in octets, is not an editor's, so that its end is not waited
 *  for. */
const BEGIN_LIMIT = 64 * 1024;

/** Returns the method of the first message in OCTETS; '' when there is none. */
function methodOf(octets: Buffer): string {
  const [line = ''] = octets.toString().split('\n', 1);
  return String(membersOf(line)['method'] ?? '');
}

/** Answers the request of a command to end the server, and ends it, if STOP is defined. The connection ends with the
 *  process, so that the command knows when that has happened. */
function answerStop(socket: Socket, stop: (() => void) | undefined): void {
  const answer = (members: object) => `${JSON.stringify({ jsonrpc: '2.0', id: 1, ...members })}\n`;
  if (stop !== undefined) socket.write(answer({ result: true }), stop);
  else socket.end(answer({ error: { code: -32000, message: 'it serves an MCP client, which ends it' } }));
}
