// Accepts the connections to a session's socket, and passes each to what serves it: an editor of the human,
// or a command, which speaks MCP or asks for a link to the page.

import type { Socket } from 'node:net';
import { messageOf } from '../errors.ts';
import { membersOf } from '../json.ts';

interface Doors {
  editor: (socket: Socket) => void;
  client: (socket: Socket) => void;
  /** Starts to serve the session's page, if necessary, and resolves with a link to the page. */
  page: () => Promise<string>;
  /** Ends the server, or is the reason why no command may end it. */
  stop: (() => void) | string;
}

/** Reads the first message on SOCKET, and passes SOCKET to the function that serves such connections. */
export function admit(socket: Socket, { editor, client, page, stop }: Doors): void {
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
    else if (method === 'live-lisp/page') void answerPage(socket, page);
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

/** Answers the request of a command for a link to the page. */
async function answerPage(socket: Socket, page: () => Promise<string>): Promise<void> {
  try {
    socket.end(answerLine({ result: { link: await page() } }));
  } catch (error) {
    socket.end(answerLine({ error: { code: -32000, message: messageOf(error) } }));
  }
}

/** Returns the answer with MEMBERS to the first request of a connection. */
function answerLine(members: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id: 1, ...members })}\n`;
}

/** Answers the request of a command to end the server, and ends it, if STOP is a function. The connection ends with the
 *  process, so that the command knows when that has happened. */
function answerStop(socket: Socket, stop: (() => void) | string): void {
  if (typeof stop === 'string') socket.end(answerLine({ error: { code: -32000, message: stop } }));
  else socket.write(answerLine({ result: true }), stop);
}
