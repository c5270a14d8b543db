// For how long a search goes on.

import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { type Budget, budgetOf, remainingTime } from '../../src/files/budget.ts';
import { filesBelow } from '../../src/files/walk.ts';
import type { TextBuffer } from '../../src/tools/buffer/buffers.ts';
import { Searcher } from '../../src/tools/buffer/pattern-search.ts';
import { folderResult } from '../../src/tools/buffer/reading-folder.ts';
import { searchResult } from '../../src/tools/buffer/search-text.ts';
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
    ['those of the CPU are gone', 400, 400, 600],
    ['none are gone while others had the CPU', 1900, 0, 1000],
    ['no more are left than until three times as many by the clock', 2900, 50, 100],
  ])('%s', (_, passedMs, ranMs, leftMs) => {
    standStill();
    const left = remainingTime(1000);
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

describe('what is told of a directory when time is up', () => {
  async function* buffers(count: number): AsyncGenerator<TextBuffer> {
    for (let file = 0; file < count; file += 1) yield { name: `${file}` } as TextBuffer;
  }
  const AFTER_THREE = 'Note: there are too many files, so not all were read. Name a subdirectory.';
  const read = async (count: number, text: string) => {
    let left = 3;
    const budget: Budget = { entries: 100, remainingMs: () => left-- - 1 };
    const asked = { path: 'd', whole: false };
    return (await folderResult(asked, buffers(count), async () => ({ data: {}, text }), budget)).text;
  };

  test('is how many files it has at least', async () => {
    expect(await read(4, 'x')).toBe(`d has at least 3 files.\n\nx\n\nx\n\nx\n\n${AFTER_THREE}`);
    expect(await read(3, 'x')).toBe('d has 3 files.\n\nx\n\nx\n\nx');
    const long = await read(4, 'x'.repeat(30_000));
    expect(long).toMatch(/^d has at least 3 files, too long for one answer:\n/);
    expect(long).toMatch(/\n\nNote: at least \d more files? (?:is|are) not listed\. Name a subdirectory\.\n/);
  });

  test.each([
    [1, "Found at least 1 match of 'x' in 1 of 3 files"],
    [0, "Found 0 matches of 'x' in 3 files"],
  ])('are the matches at least, %s', (total, head) => {
    const found = { total, filesWithMatches: total, files: 3, matches: [], offset: 0 };
    const { text } = searchResult(
      'x',
      { ...found, unreadable: [], tooHard: [], pending: [], unsaved: [] },
      undefined,
      true,
    );
    expect(text.startsWith(head)).toBe(true);
    expect(text).toContain(
      "Note: the search stopped before it had read all files; give a directory or a file as parameter 'buffer'.",
    );
  });
});

test.each([
  ['for its time, with the CPU for itself', 1, 500],
  ['for three times that, with nothing of it', 0, 1500],
])('a search by a pattern without end goes on %s', async (_, share, leastMs) => {
  const began = performance.now();
  const ran = () => ({ user: 1000 * share * (performance.now() - began), system: 0 });
  vi.spyOn(process, 'cpuUsage').mockImplementation(ran);
  const searcher = new Searcher(/(y+)+$z/gm, undefined, 500);
  await expect(searcher.search(`${'y'.repeat(50_000)}\n`, 0, 1)).rejects.toThrow(
    'The search was stopped: the pattern took longer than 0.5 s. Repetitions within repetitions, such as (a+)+, cause this; use a simpler pattern.',
  );
  // A timer can be a millisecond early.
  expect(performance.now() - began).toBeGreaterThan(leastMs - 5);
  await searcher.stop();
});
