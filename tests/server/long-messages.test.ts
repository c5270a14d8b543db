// Long forms and long lines: evaluated or refused, and the image kept.

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { everyNth } from '../long.ts';
import { imagesOf } from './processes.ts';
import { RawServer } from './raw.ts';

const MEGA = 1_000_000;

let server: RawServer;
let image: number[];
beforeAll(async () => {
  server = await new RawServer().connect();
  await server.eval('(defvar *before* :kept)');
  image = imagesOf(server.pid);
});
afterEach(async () => {
  expect(await server.eval('*before*')).toBe(':KEPT');
  expect(imagesOf(server.pid)).toEqual(image);
});
afterAll(() => server.kill());

test.each(everyNth(2, [5, 20]))('a form of %d MB is evaluated', async (megabytes) => {
  expect(await server.eval(`(length "${'x'.repeat(megabytes * MEGA)}")`)).toBe(String(megabytes * MEGA));
});

test('5 MB of code are evaluated', async () => {
  const count = MEGA / 2;
  expect(await server.eval(`(length '(${'(a . 12)\n'.repeat(count)}))`)).toBe(String(count));
});

test('5 MB outside ASCII are evaluated', async () => {
  expect(await server.eval(`(length "${'λ'.repeat(2.5 * MEGA)}")`)).toBe(String(2.5 * MEGA));
});

test('an unreadable form of 5 MB is told by line and column', async () => {
  const text = await server.eval(`(list ${'\n'.repeat(5 * MEGA)}\n   #<x>)`);
  expect(text).toBe(
    `Error: form 1 cannot be read: illegal sharp macro character: #\\<\n` +
      `It begins at line 1, column 1; reading stopped at line ${5 * MEGA + 2}, column 6. Nothing was evaluated.`,
  );
});

test('a form that is over the limit of the wire to the image is refused with a text that says so', async () => {
  // There each of these characters takes six octets: more than a frame may have.
  const reply = await server.send(server.callLine('eval_form', { form: `"${'é'.repeat(12 * MEGA)}"` }));
  expect(reply.result?.isError).toBe(true);
  expect(reply.result?.content?.[0]?.text).toMatch(/too (?:long|large|big)|limit/);
});

test('a line over 64 MB is passed over with one line on stderr', async () => {
  const block = Buffer.alloc(1024 * 1024, 'x');
  for (let megabytes = 0; megabytes < 65; megabytes++) {
    await new Promise<void>((resolve) => server.process.stdin.write(block, () => resolve()));
  }
  server.write('\n');
  await server.send(server.request('ping'));
  expect(server.complaints.slice(-1)).toEqual([
    `live-lisp: A line of ${65 * 1024 * 1024} octets was passed over; the limit is ${64 * 1024 * 1024}.`,
  ]);
});
