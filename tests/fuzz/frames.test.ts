// Frames of a hostile image: whatever comes on its channel, the server's side neither throws nor leaves a call
// unanswered.

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { SbclImage } from '../../src/image/own/sbcl-image.ts';
import { Child } from '../../src/image/process/child.ts';
import { encodeFrame, FrameReader, type Message, PROTOCOL_VERSION } from '../../src/image/wire/frames.ts';
import { readMessage } from '../../src/image/wire/messages.ts';
import type { Peer } from '../../src/image/wire/peer.ts';
import { CodeCalls } from '../../src/image/wire/upcalls.ts';
import { PROJECT } from '../harness.ts';
import { cases, PATIENCE_MS } from '../long.ts';
import { sharedFolder } from '../shared.ts';

/** Messages with the members that mean something, and any values for them. */
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(-1, 0, 1, 2, 3, 1e21, '', '1', null, true),
);
const KEYS =
  'hello without id value output background condition interrupted aborted exiting call job left register tool args text fault lost values formNumber package'.split(
    ' ',
  );
const message = fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 6 }) as fc.Arbitrary<Message>;

/** What an image can write: good frames, broken ones and octets of no frame, cut anywhere. */
const octets = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: message.map((each) => encodeFrame(each)) },
      { weight: 1, arbitrary: fc.string().map((text) => encodeFrame(text as unknown as Message)) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 12 }).map((part) => Buffer.from(part)) },
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts));

const folder = sharedFolder();
const fake = join(folder.path, 'sbcl');
beforeAll(() => {
  // It writes what its environment says and ends with the first request.
  writeFileSync(
    fake,
    `#!/bin/sh
printf %s "$LIVE_LISP_FUZZ" | base64 -d >&3
echo noise
head -c 1 <&3 >/dev/null
exit 3
`,
  );
  chmodSync(fake, 0o755);
});

test('the reader gives messages or an Error, and the same however the octets are cut', () => {
  const read = (chunks: Buffer[]): string => {
    const reader = new FrameReader();
    const read: Message[] = [];
    try {
      for (const chunk of chunks) read.push(...reader.push(chunk));
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
    }
    return JSON.stringify(read);
  };
  fc.assert(
    fc.property(octets, fc.integer({ min: 1, max: 9 }), (all, size) => {
      const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, n) =>
        all.subarray(n * size, (n + 1) * size),
      );
      const whole = JSON.parse(read([all])) as unknown[];
      // A broken frame ends the process, and what came before it in one piece is lost with it.
      expect((JSON.parse(read(pieces)) as unknown[]).slice(0, whole.length)).toEqual(whole);
    }),
    cases(200),
  );
});

test('calls of code are answered or refused, whatever they say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 20 }), async (messages) => {
      const reported: Message[] = [];
      const peer = { notify: (_op: string, args: Message) => reported.push(args) } as unknown as Peer;
      const calls = new CodeCalls(peer, {
        callTool: async (tool) => ({ value: tool.length }),
        registerTool: (definition) => String((definition as { name: string }).name),
      });
      for (const each of messages) {
        const read = readMessage(each);
        if (read.kind === 'call' || read.kind === 'register' || read.kind === 'left') calls.handle(read);
        calls.jobEnded(each['job'] as number);
      }
      await new Promise(setImmediate);
      for (const each of reported) expect('value' in each || 'failure' in each).toBe(true);
      calls.endAll();
    }),
    cases(100),
  );
});

test(
  'a process that writes anything greets or ends, and its calls are answered',
  async () => {
    await fc.assert(
      fc.asyncProperty(octets, fc.boolean(), async (garbage, greets) => {
        const first = greets ? encodeFrame({ hello: PROTOCOL_VERSION }) : Buffer.alloc(0);
        const env = { ...process.env, LIVE_LISP_FUZZ: Buffer.concat([first, garbage]).toString('base64') };
        const child = new Child({ command: { program: fake, args: [], env }, cwd: folder.path });
        const { answer } = child.request('evaluate', { code: '1' });
        child.notify('ping', {});
        await child.greeting.catch(() => {});
        expect(typeof (await answer)).toBe('object');
        child.kill('the test ended');
        expect(await child.ended).toBeTypeOf('string');
        expect(child.takeRaw().length).toBeLessThan(9000);
      }),
      { ...cases(8), interruptAfterTimeLimit: PATIENCE_MS },
    );
  },
  PATIENCE_MS,
);

test(
  'an image that speaks nonsense is lost in words',
  async () => {
    process.env['LIVE_LISP_FUZZ'] = Buffer.concat([
      encodeFrame({ hello: PROTOCOL_VERSION }),
      encodeFrame({ id: 1, output: 5, background: [] }),
    ]).toString('base64');
    const image = new SbclImage({
      sbcl: fake,
      lispFolder: join(PROJECT, 'lisp'),
      cacheFolder: folder.path,
      root: folder.path,
      heapMb: 512,
      trees: [],
      limitMs: 2000,
      startFiles: () => [],
    });
    const replies = await Promise.all([1, 2, 3].map(() => image.call('evaluate', { code: '1' })));
    for (const { ending } of replies) expect(ending.kind).toMatch(/lost|done/);
    image.close();
    delete process.env['LIVE_LISP_FUZZ'];
  },
  PATIENCE_MS,
);
