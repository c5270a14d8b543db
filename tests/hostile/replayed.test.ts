// A case of each group with a server that builds images again; `make check-long` has all of them.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { Arena } from './arena.ts';
import { GROUPS } from './cases/index.ts';
import { RECOVERING, recover } from './replayed.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await Arena.start(RECOVERING);
});
afterAll(() => arena.close());

const firsts = GROUPS.flatMap(({ cases }) => cases.find(({ long }) => long === undefined) ?? []);
test.each(firsts.map((trial, index) => [trial.name, trial, index] as const))(
  '%s',
  async (_, trial, index) => {
    expect((await recover(arena, trial, index)).breaches).toEqual([]);
  },
);
