// A Swank that stays open, as a person has it in an SBCL, and what only listens as one does.

import { type ChildProcess, spawn } from 'node:child_process';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { SwankAddress } from '../../src/image/attached/swank.ts';
import { testSbcl } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { until } from '../server/processes.ts';

const [SWANK] = libraries('swank');

/** The milliseconds in which Swank is compiled, which is done once for each SBCL. */
const COMPILING_MS = 120_000;

export interface OpenSwank {
  sbcl: ChildProcess;
  address: SwankAddress;
  url: string;
  /** Returns what it has printed. */
  printed: () => string;
  /** Kills it, and resolves when its process has ended. */
  kill: () => Promise<void>;
}

/** Starts an SBCL, which loads Swank, evaluates the forms BEFORE, and has Swank listen at PORT, or at any if that is 0.
 *  Images that serve are found in the folder SERVING. */
export async function startSwank(
  serving: string,
  { before = [], port = 0 }: { before?: string[]; port?: number } = {},
): Promise<OpenSwank> {
  // By default it listens at the address of `localhost`, which a bare machine asks a name server for.
  const forms = [
    '(require :asdf)',
    `(asdf:load-system :${SWANK})`,
    ...before,
    `(format t "~&PORT ~D~%" (swank:create-server :port ${port} :interface "127.0.0.1" :dont-close t))`,
    '(finish-output)',
    '(loop (eval (read)))',
  ];
  const args = ['--noinform', '--no-sysinit', '--no-userinit', ...forms.flatMap((form) => ['--eval', form])];
  const sbcl = spawn(testSbcl(), args, { env: { ...process.env, LIVE_LISP_SERVING: serving } });
  let text = '';
  for (const stream of [sbcl.stdout, sbcl.stderr]) {
    stream.on('data', (more) => {
      text += more;
    });
  }
  const found = () => /^PORT (\d+)$/m.exec(text)?.[1];
  await until('the port of Swank', COMPILING_MS, () => found() !== undefined);
  const address = { kind: 'swank' as const, host: '127.0.0.1', port: Number(found()) };
  const kill = async () => {
    sbcl.kill('SIGKILL');
    await until('its end', 60_000, () => sbcl.exitCode !== null || sbcl.signalCode !== null);
  };
  return { sbcl, address, url: `swank://127.0.0.1:${address.port}`, printed: () => text, kill };
}

/** What listens. */
export interface Listener {
  address: SwankAddress;
  url: string;
  close: () => void;
}

/** Listens, and calls SERVE with each connection. */
export async function listenAs(
  serve: (socket: Socket) => void,
  kind: SwankAddress['kind'] = 'swank',
): Promise<Listener> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { address: { kind, host: '127.0.0.1', port }, url: `${kind}://127.0.0.1:${port}`, close };
}

/** Returns TEXT as a message. */
export const message = (text: string) => `${Buffer.byteLength(text).toString(16).padStart(6, '0')}${text}`;

/** Listens as Swank does: says what ANSWER returns for each message. */
export function listenAsSwank(
  answer: (text: string) => string,
  kind: SwankAddress['kind'] = 'swank',
): Promise<Listener> {
  return listenAs((socket) => {
    let received = '';
    socket.setEncoding('utf8').on('data', (more) => {
      received += more;
      for (;;) {
        const length = Number.parseInt(received.slice(0, 6), 16);
        if (!(received.length >= 6 + length)) return;
        const text = received.slice(6, 6 + length);
        received = received.slice(6 + length);
        socket.write(answer(text));
      }
    });
  }, kind);
}
