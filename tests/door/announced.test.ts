// Connections to the sockets of sessions and images.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isListening, openSocket } from '../../src/announced.ts';
import { temporaryFolder } from '../harness.ts';

const folder = temporaryFolder();
const path = join(folder.path, 'socket');
const waiting: Socket[] = [];
let server: ChildProcess;

beforeAll(async () => {
  const code =
    'net.createServer().listen({ path: process.argv[1], backlog: 1 }, () => console.log("listens"))';
  server = spawn(process.execPath, ['-e', code, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout as NonNullable<ChildProcess['stdout']>, 'data');
});

afterAll(() => {
  server.kill('SIGKILL');
  for (const socket of waiting) socket.destroy();
  folder.remove();
});

/** Connects to the server, which accepts nothing now, until the kernel refuses another connection. */
async function fillQueue(): Promise<void> {
  for (;;) {
    const socket = connect(path);
    const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      socket.on('connect', () => resolve(undefined)).on('error', resolve);
    });
    if (error !== undefined) return expect(error.code).toBe('EAGAIN');
    waiting.push(socket);
  }
}

test('a socket whose queue of connections is full has its program, and is connected to when there is room', async () => {
  server.kill('SIGSTOP');
  await fillQueue();
  expect(await isListening(path)).toBe(true);
  const opened = openSocket(path);
  await delay(100);
  server.kill('SIGCONT');
  const socket = await opened;
  expect(socket).toBeTypeOf('object');
  if (typeof socket === 'object') socket.destroy();
});
