// Servers that are killed leave nothing of theirs in an image that somebody else runs.

import { expect, test } from 'vitest';
import { killServers, NOTHING_LEFT } from './killed-servers.ts';

test('4 servers are killed at random points, and only the listener is left', async () => {
  const { left, connected, printed, values } = await killServers(4);
  expect(left).toBe(NOTHING_LEFT);
  expect(connected).toBeGreaterThanOrEqual(2);
  expect(values).toEqual(['42']);
  expect(printed).not.toContain('DEBUGGER');
});
