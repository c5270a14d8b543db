// All cases with a server that builds images again: `make check-long`.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Arena } from './arena.ts';
import { GROUPS } from './cases/index.ts';
import { RECOVERING, recover } from './replayed.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await Arena.start(RECOVERING);
});
afterAll(() => arena.close());

let number = 0;
describe.each(GROUPS)('$title', ({ cases }) => {
  test.each(cases.map((trial) => [trial.name, trial] as const))('%s', async (_, trial) => {
    const recovery = await recover(arena, trial, ++number);
    console.log(JSON.stringify(recovery));
    expect(recovery.breaches).toEqual([]);
  });
});
