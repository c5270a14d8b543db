// What is told of an image that does not react.

import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { Image } from '../../src/image/image.ts';
import { Jobs } from '../../src/image/session/jobs.ts';
import { imageStatusOf as statusOf } from '../../src/image/session/status.ts';
import { Pulse } from '../../src/image/wire/pulse.ts';
import type { Result } from '../../src/kernel/tool.ts';
import { imageStatusTool } from '../../src/tools/execution/image-status.ts';

test.each([
  ['other processes have the CPU.', 70, true],
  [
    'it collects garbage, or code in it keeps all threads from running. If this lasts 6 s without garbage collection, or 16.0 s in any case, the image is replaced.',
    0,
    undefined,
  ],
])('a silent image is told with its reason: %s', async (why, deniedMs, starved) => {
  const looks = [0, deniedMs];
  const pulse = { status: async () => ({ silentMs: 300 }) } as unknown as Pulse;
  const status = await statusOf(
    {
      running: true,
      prepared: true,
      pulse,
      outside: { pid: 5, uptimeMs: 1000 },
      denied: () => () => looks.shift() ?? 0,
      frozenMs: 16_000,
      failure: undefined,
    },
    { unreported: [] },
    new Jobs(),
    70,
  );
  expect(status.outside).toEqual({ pid: 5, uptimeMs: 1000, ...(starved && { starved }) });
  const tool = imageStatusTool({ status: async () => status } as unknown as Image, undefined);
  const { text, data } = (await tool.handler({}, {} as never)) as Result;
  expect(text.split('\n', 1)[0]).toBe(`The Lisp image has not reacted for 0.3 s: ${why}`);
  expect(data).toMatchObject({ pid: 5, ...(starved && { starved }) });
});

test('the data says that the process of an attached image is stopped by a signal', async () => {
  const pulse = { status: async () => ({ silentMs: 300 }) } as unknown as Pulse;
  const life = { running: true, prepared: true, pulse, failure: undefined };
  const status = await statusOf(
    { ...life, attached: true, stopped: () => true },
    { unreported: [] },
    new Jobs(),
    70,
  );
  const tool = imageStatusTool({ status: async () => status } as unknown as Image, undefined);
  const { data } = (await tool.handler({}, {} as never)) as Result;
  expect(data).toMatchObject({ stopped: true });
});

test('what an image has said in time is read also when the server stood still meanwhile', async () => {
  const { port1: backend, port2: server } = new MessageChannel();
  const answer = new Promise((resolve) => {
    server.once('message', (value) => resolve({ data: { value } }));
  });
  const pulse = new Pulse({ request: () => ({ answer }) } as unknown as ConstructorParameters<
    typeof Pulse
  >[0]);
  const asked = pulse.status(5);
  backend.postMessage({ version: '2' });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  expect(await asked).toMatchObject({ lastStatus: { status: { version: '2' } }, silentMs: 0 });
  backend.close();
});
