// who_calls against the sources of two libraries, which a walker of its own reads.

import { expect, test } from 'vitest';
import { startSession } from '../harness.ts';
import { compared } from './compare.ts';
import { truthOf } from './truth.ts';

const SYSTEMS = ['alexandria', 'cl-ppcre'];

test('who_calls tells the callers that the sources of two libraries have', { timeout: 300_000 }, async () => {
  const truth = truthOf(SYSTEMS);
  expect(truth.problems).toEqual([]);
  const session = await startSession();
  for (const system of SYSTEMS) await session.text('load_system', { system });
  const { rows, missed, wrong, marked } = await compared(session, truth, 1);
  await session.close();
  console.log(
    JSON.stringify(rows, null, 1),
    missed.slice(0, 50),
    wrong.slice(0, 80),
    marked.filter((_, i) => i % 3 === 0),
  );
});
