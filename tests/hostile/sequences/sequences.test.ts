// Images that are damaged but live, in one server: a few of them; `make check-long` has all.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { Arena } from '../arena.ts';
import { DAMAGES } from './damages.ts';
import { pass, RECOVERING } from './sequence.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await Arena.start(RECOVERING);
});
afterAll(() => arena.close());

const short = DAMAGES.filter((damage) => damage.short);
test.each(short.map((damage, index) => [damage.name, damage, index] as const))(
  '%s',
  async (_, damage, index) => {
    expect((await pass(arena, damage, 100 + index)).breaches).toEqual([]);
  },
);
