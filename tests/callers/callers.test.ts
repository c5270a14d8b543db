// who_calls against the sources of two libraries, which a walker of its own reads. callers.long.ts has many.

import { expect, test } from 'vitest';
import { startSession } from '../harness.ts';
import { libraries } from '../libraries.ts';
import { compared, type Findings, sum } from './compare.ts';
import { truthOf } from './truth.ts';

const SYSTEMS = libraries('alexandria', 'cl-ppcre');

let found: Findings | undefined;

async function findings(): Promise<Findings> {
  if (found !== undefined) return found;
  const truth = truthOf(SYSTEMS);
  expect(truth.problems).toEqual([]);
  const session = await startSession();
  for (const system of SYSTEMS) await session.text('load_system', { system });
  found = await compared(session, truth, 1);
  await session.close();
  return found;
}

test('S3.7 who_calls tells the functions that the sources of libraries have as callers, and no others', async () => {
  const { rows, missed, wrong } = await findings();
  expect(rows.map(({ library }) => library)).toEqual(SYSTEMS);
  const { there, found, given, right } = sum(rows.map(({ named }) => named));
  expect(there).toBeGreaterThan(400);
  expect(found / there, missed.join('\n')).toBeGreaterThanOrEqual(0.995);
  expect(right / given, wrong.join('\n')).toBeGreaterThanOrEqual(0.995);
});

test('S3.18 the places that it tells are on the lines of the calls, or marked', async () => {
  const { rows, wrong } = await findings();
  const [right = 0, wrongly = 0, marked = 0] = (['right', 'wrong', 'marked'] as const).map((kind) =>
    rows.reduce((count, { sites }) => count + sites[kind], 0),
  );
  expect(right).toBeGreaterThan(600);
  expect(right / (right + wrongly), wrong.join('\n')).toBeGreaterThanOrEqual(0.99);
  expect(marked / (right + marked)).toBeLessThan(0.05);
});

test('S3.17 S3.8 it tells other places too, and says of none that is called that nobody calls it', async () => {
  const { rows } = await findings();
  expect(sum(rows.map(({ places }) => places)).found).toBeGreaterThan(0);
  expect(rows.filter(({ falseNone }) => falseNone > 0)).toEqual([]);
});
