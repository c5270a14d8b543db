// What the listener for HTTP refuses, and what it lets a client take. Limits are shorter than users have.

import { connect, type Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import {
  HTTP_LIMITS,
  type HttpListener,
  type ListenOptions,
  listen,
  readBody,
} from '../../src/http/listen.ts';
import { until } from '../server/processes.ts';

interface Listening extends HttpListener {
  port: number;
  complaints: string[];
}

// Some tests run at once, so a listener ends with the last of them.
const listeners: HttpListener[] = [];
afterAll(() => Promise.all(listeners.map((listener) => listener.end(0))));

async function started(options: Partial<ListenOptions> = {}): Promise<Listening> {
  const complaints: string[] = [];
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    handle: (_, response) => void response.end('answer'),
    complain: (line) => void complaints.push(line),
    ...options,
  });
  listeners.push(listener);
  return { ...listener, port: Number(new URL(listener.origin).port), complaints };
}

/** Opens a connection to LISTENER, and writes TEXT on it. */
function opened({ port }: Listening, text = ''): { socket: Socket; all: Promise<string> } {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk;
  });
  socket.on('error', () => {});
  socket.write(text);
  const all = new Promise<string>((resolve) => void socket.on('close', () => resolve(received)));
  return { socket, all };
}

const short = (limits: Partial<typeof HTTP_LIMITS>) => ({ limits: { ...HTTP_LIMITS, ...limits } });
/** Milliseconds in which a listener sees a request that was sent, also on a busy machine. */
const SEEN_MS = 3000;
const HEAD = 'POST / HTTP/1.1\r\nHost: localhost\r\n';

test('headers that do not end are not waited for', async () => {
  const listener = await started(short({ headersMs: 300 }));
  expect(await opened(listener, HEAD).all).toContain('HTTP/1.1 408 Request Timeout');
});

// Each waits for a limit.
describe.concurrent('in time', () => {
  test('half a body is not waited for', async () => {
    const read: unknown[] = [];
    const handle: ListenOptions['handle'] = async (request, response) => {
      read.push(await readBody(request, 100).catch((error: Error) => error.message));
      response.end();
    };
    const listener = await started({ handle, ...short({ headersMs: SEEN_MS, requestMs: SEEN_MS }) });
    await opened(listener, `${HEAD}Content-Length: 10\r\n\r\nhalf`).all;
    expect(read).toEqual(['aborted']);
    expect(listener.complaints).toEqual([]);
  });

  test('a client that reads nothing of its answer is closed', async () => {
    const part = Buffer.alloc(1024 * 1024);
    const closed = new Promise((resolve) => {
      void started({
        handle: (_, response) => {
          response.on('close', () => resolve(response.writableFinished));
          for (let count = 0; count < 50; count++) response.write(part);
        },
        ...short({ idleMs: SEEN_MS }),
      }).then((listener) => {
        const { socket } = opened(listener, `${HEAD}Content-Length: 0\r\n\r\n`);
        socket.pause();
      });
    });
    expect(await closed).toBe(false);
  });

  test('a connection without a request is closed, and one that waits for its answer is not', async () => {
    let answer = () => {};
    const waiting = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const handle: ListenOptions['handle'] = async (_, response) => {
      await waiting;
      response.end('answer');
    };
    const listener = await started({ handle, ...short({ idleMs: SEEN_MS }) });
    const busy = opened(listener, `${HEAD}Content-Length: 0\r\n\r\n`);
    expect(await opened(listener).all).toBe('');
    answer();
    expect(await busy.all).toContain('answer');
  });
});

test('of five hundred connections those that fit are kept, and then there is room again', async () => {
  const listener = await started(short({ connections: 50 }));
  const all = Array.from({ length: 500 }, () => opened(listener, `${HEAD}Content-Length: 0\r\n\r\n`));
  const answered = await Promise.all(all.map(({ socket }) => isAnswered(socket)));
  const kept = answered.filter(Boolean).length;
  expect(kept).toBeGreaterThan(0);
  expect(kept).toBeLessThanOrEqual(50);
  for (const { socket } of all) socket.destroy();
  await until('room for a connection', 60_000, () =>
    isAnswered(opened(listener, `${HEAD}Content-Length: 0\r\n\r\n`).socket),
  );
});

test('connections without an accepted request make room for others, the oldest first', async () => {
  const handle: ListenOptions['handle'] = ({ headers }, response) => {
    response.writeHead(headers.authorization === undefined ? 401 : 200).end();
  };
  const listener = await started({ handle, ...short({ connections: 4 }) });
  const answered = async (text: string) => {
    const connection = opened(listener, text);
    expect(await isAnswered(connection.socket)).toBe(true);
    return connection;
  };
  const accepted = await answered(`${HEAD}Authorization: x\r\nContent-Length: 0\r\n\r\n`);
  const refused = await answered(`${HEAD}Content-Length: 0\r\n\r\n`);
  const silent = Array.from({ length: 100 }, () => opened(listener, HEAD));
  expect(await refused.all).toContain('HTTP/1.1 401');
  await Promise.all(silent.slice(0, 97).map(({ all }) => all));
  accepted.socket.write(`${HEAD}Authorization: x\r\nContent-Length: 0\r\n\r\n`);
  expect(await isAnswered(accepted.socket)).toBe(true);
  await answered(`${HEAD}Authorization: x\r\nContent-Length: 0\r\n\r\n`);
});

/** Resolves with true when the server writes on SOCKET, and with false when it closes SOCKET before. */
function isAnswered(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once('data', () => resolve(true));
    socket.once('close', () => resolve(false));
  });
}

test('the name at which it listens is known in upper and lower case', async () => {
  // An address in this form counts as a name.
  const listener = await started({ host: '0X7F.1' });
  const headers = 'Connection: close\r\nContent-Length: 0\r\n\r\n';
  const { all } = opened(listener, `POST / HTTP/1.1\r\nHost: 0X7F.1\r\n${headers}`);
  expect(await all).toContain('HTTP/1.1 200 OK');
});

test('headers of 20 KB are refused', async () => {
  const listener = await started();
  const { all } = opened(listener, `${HEAD}X: ${'x'.repeat(20_000)}\r\n\r\n`);
  expect(await all).toContain('HTTP/1.1 431 Request Header Fields Too Large');
});

test('an error is reported, and answered without its text', async () => {
  const handle = () => {
    throw new Error('a secret\nand more');
  };
  const listener = await started({ handle });
  const { all } = opened(listener, `${HEAD}Connection: close\r\nContent-Length: 0\r\n\r\n`);
  const [head, body] = (await all).split('\r\n\r\n');
  expect([head?.slice(0, 12), body]).toEqual([
    'HTTP/1.1 500',
    'The server failed to answer this request. Send it again.\n',
  ]);
  expect(listener.complaints).toEqual(['An HTTP request failed: Error: a secret and more']);
});

test('the end waits for an answer, and closes what is open', async () => {
  let take: (answer: () => void) => void = () => {};
  const taken = new Promise<() => void>((resolve) => {
    take = resolve;
  });
  const listener = await started({ handle: (_, response) => take(() => void response.end('answer')) });
  const idle = opened(listener);
  const busy = opened(listener, `${HEAD}Content-Length: 0\r\n\r\n`);
  const answer = await taken;
  const ended = listener.end(60_000);
  expect(await idle.all).toBe('');
  answer();
  expect(await busy.all).toContain('answer');
  await ended;
});

test.each([
  ['another program listens there', 'EADDRINUSE'],
  ['the address is of another machine', 'EADDRNOTAVAIL'],
])('it says why it cannot listen: %s', async (_, code) => {
  const { port } = await started();
  const there = code === 'EADDRINUSE' ? { host: '127.0.0.1', port } : { host: '192.0.2.1', port: 0 };
  await expect(started(there)).rejects.toThrow(
    code === 'EADDRINUSE'
      ? `Another program listens at 127.0.0.1:${port}. Give another port, or end that program.`
      : 'The server cannot listen at 192.0.2.1:0 (EADDRNOTAVAIL). Give an address of this machine and a port that you may use.',
  );
});
