// For how long a search goes on.

import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { type Budget, budgetOf, patience } from '../../src/files/budget.ts';
import { filesBelow } from '../../src/files/walk.ts';
import { makeWorkspace } from './workspaces.ts';

const clock = { nowMs: 0, ranMs: 0 };
/** Has the clock, and what this process has run, stand where CLOCK says. */
function standStill(): void {
  Object.assign(clock, { nowMs: performance.now(), ranMs: 0 });
  vi.spyOn(performance, 'now').mockImplementation(() => clock.nowMs);
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({ user: 1000 * clock.ranMs, system: 0 }));
}
afterEach(() => {
  vi.restoreAllMocks();
});

describe('of 1000 ms', () => {
  test.each([
    ['all are left at first', 0, 0, 1000],
    ['those of the CPU are gone', 400, 400, 600],
    ['none are gone while others had the CPU', 1900, 0, 1000],
    ['no more are left than until three times as many by the clock', 2900, 50, 100],
    ['none are left after that', 3000, 0, 0],
  ])('%s', (_, passedMs, ranMs, leftMs) => {
    standStill();
    const left = patience(1000);
    clock.nowMs += passedMs;
    clock.ranMs += ranMs;
    expect(left()).toBe(leftMs);
  });
});

describe('a search of 3 s', () => {
  const at = makeWorkspace();
  for (const name of ['a', 'b', 'c']) at.put(name, '');
  afterAll(at.remove);

  test('finds all files, though others have the CPU for 5 s when it has begun', async () => {
    standStill();
    const found: string[] = [];
    const budget: Budget = budgetOf(100, 3000);
    for await (const path of filesBelow(at.workspace, [at.root], budget)) {
      if (found.length === 0) clock.nowMs += 5000;
      found.push(path);
    }
    expect([found.length, budget.exceeded]).toEqual([3, false]);
  });
});
