// Many servers that are killed leave nothing of theirs in an image that somebody else runs.

import { expect, test } from 'vitest';
import { killServers, NOTHING_LEFT } from './killed-servers.ts';

test('200 servers are killed at random points, and only the listener is left', async () => {
  const { left, connected, printed, values } = await killServers(200);
  console.log(`200 servers killed, ${connected} of them while they were connected`);
  expect(left).toBe(NOTHING_LEFT);
  expect(connected).toBeGreaterThanOrEqual(100);
  expect(values).toEqual(['42']);
  expect(printed).not.toContain('DEBUGGER');
});
