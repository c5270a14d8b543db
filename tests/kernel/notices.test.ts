// What is kept until an answer tells it.

import { expect, test } from 'vitest';
import type { ImageNotice } from '../../src/image/image.ts';
import { Notices } from '../../src/image/session/notices.ts';
import { OUTPUT_LIMIT, readOutput } from '../../src/image/wire/messages.ts';
import { noticeText } from '../../src/tools/notice-text.ts';

const raw = (text: string) => ({ kind: 'raw', text }) as const;

test('notices are told once, in their order', () => {
  const notices = new Notices();
  notices.add(raw('one'));
  notices.add(raw('two'));
  expect(notices.take()).toEqual([raw('one'), raw('two')]);
  expect(notices.take()).toEqual([]);
});

test('of many notices the last are kept, and the rest is counted', () => {
  const notices = new Notices();
  for (let count = 0; count < 1_000; count++) notices.add(raw(`${count}`));
  const reported = notices.take();
  expect(reported).toHaveLength(21);
  expect(reported[0]).toEqual({ kind: 'forgotten', count: 980 });
  expect(reported[20]).toEqual(raw('999'));
  notices.add(raw('next'));
  expect(notices.take()).toEqual([raw('next')]);
});

test('what the backend says was written is bounded', () => {
  const long = readOutput({ text: 'x'.repeat(100_000), omitted: 1, tail: 'y'.repeat(100_000) });
  expect([long?.text.length, long?.tail?.length]).toEqual([OUTPUT_LIMIT, OUTPUT_LIMIT]);
  expect(readOutput({ text: 5 })).toBe(undefined);
});

test.each([
  [
    { kind: 'forgotten', count: 980 },
    '980 earlier notices were left out, because too many came before this answer.',
  ],
  [
    { kind: 'cancelled', ending: { kind: 'done' }, afterMs: 1200, output: undefined },
    'A call that the client cancelled had ended before it could be interrupted, after 1.2 s. It had written nothing.',
  ],
  [
    { kind: 'connected again', how: 'the image ended' },
    'The connection to the Lisp image was lost: the image ended. A new one is open; check whether the image still holds what you need.',
  ],
  [
    { kind: 'journal full', entries: 20_000 },
    'Note: the journal is full (20000 entries). If the image is lost, later definitions and loads will not be rebuilt. Put them into files, and load those in a new session.',
  ],
  [
    { kind: 'journal unwritable', why: 'no space' },
    'Note: the journal cannot be written (no space). This server can still rebuild a lost image, from memory; a later server cannot.',
  ],
] satisfies [ImageNotice, string][])('the notice %j reads %s', (notice, text) => {
  expect(noticeText(notice)).toBe(text);
});
