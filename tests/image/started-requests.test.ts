// The memory in which an image notes the requests that it begins.

import { fstatSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { StartedRequests } from '../../src/image/process/started-requests.ts';

test('has its blocks on the disk: the first note in a hole would end the image when the disk is full', () => {
  const started = new StartedRequests();
  try {
    const { blocks, size } = fstatSync(started.descriptor ?? -1);
    expect(size).toBeGreaterThan(0);
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
  } finally {
    started.close();
  }
});

test('cannot tell of a request whose word a later one has, so that it is not sent again', () => {
  const started = new StartedRequests();
  const note = (id: number) => {
    const word = Buffer.alloc(8);
    word.writeBigUInt64LE(BigInt(id));
    writeSync(started.descriptor ?? -1, word, 0, 8, 8 * (id % 512));
  };
  try {
    note(7);
    expect([started.has(7), started.has(7 + 512), started.has(8)]).toEqual([true, false, false]);
    note(7 + 512);
    expect([started.has(7), started.has(7 + 512)]).toEqual([undefined, true]);
  } finally {
    started.close();
  }
});
