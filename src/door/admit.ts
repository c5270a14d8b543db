// Accepts connections to a session's socket. Passes each to the part that serves it: an editor of the human, a command
// that speaks MCP, or a command that asks for a link to the page.

import type { Socket } from 'node:net';
import { messageOf } from '../errors.ts';
import { membersOf } from '../json.ts';

interface Doors {
  editor: (socket: Socket) => void;
  client: (socket: Socket) => void;
  /** Starts to serve the session's page, if necessary, and resolves with a link to the page. */
  page: () => Promise<string>;
  /** A function that ends the server, or the reason why no command may end it. */
  stop: (() => void) | string;
}

/** Reads the first message on SOCKET, and passes SOCKET to the function that serves this kind of connection. */
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

/** A first message with more octets than this does not come from an editor, so its end is not waited for. */
const BEGIN_LIMIT = 64 * 1024;

/** Returns the method of the first message in OCTETS; '' when there is none. */
function methodOf(octets: Buffer): string {
  const [line = ''] = octets.toString().split('\n', 1);
  return String(membersOf(line)['method'] ?? '');
}

/** Sends a link to the page as the answer to a command. */
async function answerPage(socket: Socket, page: () => Promise<string>): Promise<void> {
  try {
    socket.end(answerLine({ result: { link: await page() } }));
  } catch (error) {
    socket.end(answerLine({ error: { code: -32000, message: messageOf(error) } }));
  }
}

/** Returns the line that answers the first request of a connection. MEMBERS are its result or its error. */
function answerLine(members: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id: 1, ...members })}\n`;
}

/** Answers a command that asks the server to end. If STOP is a function, calls it to end the server; the connection
 * ends with the process, which shows the command that the server has ended. If STOP is a string, sends it as the reason
 * for the refusal. */
function answerStop(socket: Socket, stop: (() => void) | string): void {
  if (typeof stop === 'string') socket.end(answerLine({ error: { code: -32000, message: stop } }));
  else socket.write(answerLine({ result: true }), stop);
}
