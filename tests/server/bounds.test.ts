// What the server holds is bounded, whatever its client sends or leaves unread.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test } from 'vitest';
import { LineReader } from '../../src/server/line-reader.ts';
import { StdioTransport } from '../../src/server/transport.ts';
import { sharedFolder } from '../shared.ts';
import { until } from './processes.ts';
import { RawServer, textOf } from './raw.ts';

const TOO_MANY_WAIT =
  '1000 calls are already waiting, so this one was refused and nothing was done. Call again when some have been answered.';

const MEGA = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Returns how much memory is in use in this process once its garbage is collected. */
function octetsInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('lines', () => {
  test('split at every octet are whole', () => {
    const reader = new LineReader();
    const lines = [...Buffer.from('{"a":"λ"}\n\nxyz\nrest')].flatMap((octet) =>
      reader.push(Buffer.from([octet])),
    );
    expect(lines.map((line) => ('octets' in line ? line.octets.toString() : line))).toEqual([
      '{"a":"λ"}',
      '',
      'xyz',
    ]);
  });

  test('in pieces of one octet hold little more than their octets', () => {
    const reader = new LineReader();
    const before = octetsInUse();
    for (let count = 0; count < MEGA / 4; count++) reader.push(Buffer.from('x'));
    expect(octetsInUse() - before).toBeLessThan(2 * MEGA);
    const [line] = reader.push(Buffer.from('\n'));
    expect(line && 'octets' in line && line.octets.length).toBe(MEGA / 4);
  });
});

describe('a transport whose client does not read', () => {
  /** Returns a transport over streams that holds so many octets, what it received, and how its client reads on. */
  async function started(bufferLimit = 128 * MEGA) {
    const stdin = new PassThrough();
    let release = () => {};
    const stdout = new Writable({
      highWaterMark: 16_384,
      write: (_chunk, _encoding, done) => {
        release = done;
      },
    });
    const transport = new StdioTransport({
      stdin,
      stdout,
      complain: () => {},
      onFirstAnswer: () => {},
      starting: () => false,
      onOverdue: async () => {},
      bufferLimit,
    });
    const received: JSONRPCMessage[] = [];
    transport.onmessage = (message) => received.push(message);
    await transport.start();
    const read = async () => {
      while (stdout.writableLength > 0) {
        release();
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    /** Resolves when no more is taken in: what stdin has waits. */
    const full = () => until('that it takes no more', 60_000, () => stdin.isPaused());
    return { transport, stdin, stdout, received, read, full };
  }

  function request(id: number, octets = 0): string {
    return `${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping', params: { x: 'x'.repeat(octets) } })}\n`;
  }

  const answer = (id: number, octets: number) =>
    ({ jsonrpc: '2.0', id, result: { x: 'x'.repeat(octets) } }) as JSONRPCMessage;

  test('takes no more requests while much waits to be read, and goes on once it was', async () => {
    const { transport, stdin, received, read, full } = await started();
    stdin.write(request(1));
    await until('the first request', 60_000, () => received.length === 1);
    void transport.send(answer(1, 130 * MEGA));
    stdin.write(request(2));
    await full();
    const taken = received.length;
    stdin.write(request(3));
    stdin.write(request(4));
    await new Promise((resolve) => setImmediate(resolve));
    expect([received.length, stdin.readableLength > 0]).toEqual([taken, true]);
    await read();
    await until('all requests', 60_000, () => received.length === 4);
  });

  test('takes no more requests while much of them waits for an answer', async () => {
    const { transport, stdin, received, read, full } = await started(MEGA);
    for (const id of [1, 2, 3, 4]) stdin.write(request(id, 0.45 * MEGA));
    await full();
    expect([received.length, stdin.readableLength > 0]).toEqual([3, true]);
    void transport.send(answer(1, 1));
    await read();
    await until('the fourth request', 60_000, () => received.length === 4);
  });

  test('is told nothing that it has not asked for', async () => {
    const { transport, stdout } = await started();
    void transport.send(answer(1, 2 * MEGA));
    const before = stdout.writableLength;
    await transport.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    expect(stdout.writableLength).toBe(before);
  });
});

describe('the built server', () => {
  const folder = sharedFolder();
  const servers: RawServer[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.kill();
  });
  async function connected(): Promise<RawServer> {
    const server = new RawServer();
    servers.push(server);
    return server.connect();
  }

  /** Returns the memory of the server in megabytes. */
  function rss(server: RawServer): number {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
  }

  test('refuses what is more than can wait, and tells so', async () => {
    const server = await connected();
    await server.eval('(defvar *go* nil)');
    const calls = Array.from({ length: 1020 }, () =>
      server.callLine('eval_form', { form: '(loop until *go* do (sleep 0.01))' }),
    );
    server.write(calls.map(({ line }) => line).join(''));
    // Others are answered meanwhile.
    expect((await server.send(server.request('tools/list'))).result?.['tools']).toBeDefined();
    const refused = calls.slice(1008);
    for (const { id } of refused) {
      expect(textOf(await server.answer(id))).toBe(TOO_MANY_WAIT);
    }
    expect((await server.send(server.request('ping'))).result).toEqual({});
  });

  test('holds little for a client that never reads, and goes on when it does', async () => {
    const server = await connected();
    await server.eval('1');
    server.process.stdout.pause();
    const before = rss(server);
    const form = '(loop repeat 400 do (format t "~A~%" (make-string 100 :initial-element #\\x)))';
    const done = join(folder.path, 'done');
    const calls = Array.from({ length: 300 }, () => server.callLine('eval_form', { form }));
    calls.push(server.callLine('eval_form', { form: `(close (open "${done}" :direction :output))` }));
    server.write(calls.map(({ line }) => line).join(''));
    await until('the last call', 120_000, () => existsSync(done));
    expect(rss(server) - before).toBeLessThan(150);
    server.process.stdout.resume();
    for (const { id } of calls) expect((await server.answer(id)).result?.isError).toBe(false);
  });
});
