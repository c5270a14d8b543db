// The memory in which an image notes the requests that it begins.

import { fstatSync } from 'node:fs';
import { expect, test } from 'vitest';
import { StartedRequests } from '../../src/image/process/begun.ts';

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
