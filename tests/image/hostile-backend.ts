// A program that serves as an image does, and says on the wire what a test wants.

import { createServer, type Server, type Socket } from 'node:net';
import { encodeFrame, FrameReader, type Message, PROTOCOL_VERSION } from '../../src/image/wire/frames.ts';
import { described, publish } from './served.ts';

/** A request of a server: its operation and number, and the connection. */
export interface Asked {
  op: string;
  id: number;
  socket: Socket;
  /** Sends MESSAGE as a frame. */
  say: (message: Message) => void;
}

/** How a program that serves behaves. */
export interface Behaviour {
  /** Called for each new connection, instead of the greeting. */
  greet?: (socket: Socket) => void;
  /** Called for each request of which the answer matters. */
  asked?: (request: Asked) => void;
}

const GREETING = { hello: PROTOCOL_VERSION, without: [], fallbacks: [] };

/** Requests that come with a connection. */
const FIRST = ['begin-session', 'offer-tools', 'features'];

/** Publishes in FOLDER the image NAME for WORKSPACE. "behave" of what this resolves with ends its connections and says
 * how  it behaves in the next ones. */
export async function serveHostile(
  folder: string,
  name: string,
  workspace: string,
): Promise<{ behave: (behaviour: Behaviour) => void; close: () => void }> {
  const sockets = new Set<Socket>();
  let behaviour: Behaviour = {};
  const disconnect = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const server: Server = createServer((socket) => {
    const { greet, asked = () => {} } = behaviour;
    sockets.add(socket);
    socket.on('error', () => {});
    if (greet !== undefined) greet(socket);
    else socket.write(encodeFrame(GREETING));
    const reader = new FrameReader();
    socket.on('data', (chunk) => {
      for (const { op, id } of reader.push(chunk)) {
        const say = (message: Message) => void socket.write(encodeFrame(message));
        if (FIRST.includes(String(op))) say({ id, value: true });
        else asked({ op: String(op), id: Number(id), socket, say });
      }
    });
  });
  const served = described(folder, name, { workspace });
  await new Promise<void>((resolve) => server.listen(served.socket, () => resolve()));
  publish(folder, served);
  return {
    behave: (next) => {
      disconnect();
      behaviour = next;
    },
    close: () => {
      server.close();
      disconnect();
    },
  };
}
