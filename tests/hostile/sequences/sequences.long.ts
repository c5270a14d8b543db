// All images that are damaged but live, in one server, one after the other: `make check-long`.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { Arena } from '../arena.ts';
import { RECOVERING } from '../replayed.ts';
import { DAMAGES } from './damages.ts';
import { pass } from './sequence.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await Arena.start(RECOVERING);
});
afterAll(() => arena.close());

test.each(DAMAGES.map((damage, index) => [damage.name, damage, index] as const))(
  '%s',
  async (_, damage, index) => {
    const { breaches, ...passage } = await pass(arena, damage, 100 + index);
    console.log(JSON.stringify(passage));
    expect(breaches).toEqual([]);
  },
);
