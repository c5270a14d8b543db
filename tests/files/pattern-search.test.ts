// For how long a search by a pattern may take.

import { expect, test, vi } from 'vitest';
import { Searcher } from '../../src/tools/buffer/pattern-search.ts';

const TEXT = `${'y'.repeat(50_000)}\n`;

test.each([
  ['for its time, with the CPU for itself', 1, 500],
  ['for twice that, with half of the CPU', 0.5, 1000],
  ['for three times that, with nothing of it', 0, 1500],
])('one without end goes on %s', async (_, share, leastMs) => {
  const began = performance.now();
  const ran = () => ({ user: 1000 * share * (performance.now() - began), system: 0 });
  const usage = vi.spyOn(process, 'cpuUsage').mockImplementation(ran);
  const searcher = new Searcher(/(y+)+$z/gm, undefined, 500);
  await expect(searcher.search(TEXT, 0, 1)).rejects.toThrow(
    'The search was ended: the pattern took longer than 0.5 s. Repetitions within repetitions, such as (a+)+, do that; use a simpler pattern.',
  );
  // A timer can be a millisecond early.
  expect(performance.now() - began).toBeGreaterThan(leastMs - 5);
  usage.mockRestore();
  await searcher.stop();
});
