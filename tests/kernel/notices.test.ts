// What is kept until an answer tells it, and how many calls can wait.

import { expect, test } from 'vitest';
import { Notices } from '../../src/image/session/notices.ts';
import { enterAll, Queue } from '../../src/image/session/queue.ts';

test('notices are told once, in their order', () => {
  const notices = new Notices();
  notices.add('one');
  notices.add('two');
  expect(notices.take()).toEqual(['one', 'two']);
  expect(notices.take()).toEqual([]);
});

test('of many notices the last are kept, each bounded, and the rest is counted', () => {
  const notices = new Notices();
  for (let count = 0; count < 1_000; count++) notices.add(`${count} ${'x'.repeat(100_000)}`);
  const told = notices.take();
  expect(told).toHaveLength(21);
  expect(told[0]).toBe('980 earlier notices were left out: no answer could tell them.');
  expect(told[20]).toMatch(/^999 x{49000,}\n\[... cut here ...\]$/);
  expect(told[20]?.length).toBeLessThan(50_100);
  notices.add('next');
  expect(notices.take()).toEqual(['next']);
});

test('a thousand calls wait, one more is refused and takes no place', async () => {
  const queue = new Queue(1);
  const other = new Queue(1);
  await queue.enter(undefined, () => {});
  const waiting = Array.from({ length: 1000 }, () => queue.enter(undefined, () => {}));
  await expect(enterAll([other, queue], undefined, () => {})).rejects.toThrow(
    '1000 calls wait already until others have ended, so this one was not taken and nothing was done. Call again when some have been answered.',
  );
  await other.enter(undefined, () => {});
  for (const each of waiting) {
    queue.leave();
    await each;
  }
});
