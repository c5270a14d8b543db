// Decides which cases the short run has, and what a test says of each.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Arena } from './arena.ts';
import { type Group, SHORT_SPIN_S } from './case.ts';

/** Defines a test for each case of GROUPS, all with one server; those that take long are left to `make check-long`. */
export function testCases(groups: readonly Group[]): void {
  let arena: Arena;
  beforeAll(async () => {
    arena = await Arena.start({ spinS: SHORT_SPIN_S });
  });
  afterAll(() => arena.close());

  describe.each(groups)('$title', ({ cases }) => {
    const short = cases.filter(({ long }) => long === undefined);
    test.each(short.map((trial) => [trial.name, trial] as const))('%s', async (_, trial) => {
      expect((await arena.face(trial)).breaches).toEqual([]);
    });
  });

  test('when the server has ended, none of the processes that its images started is left', async () => {
    expect(await arena.leftAfterEnd()).toEqual([]);
  });
}
