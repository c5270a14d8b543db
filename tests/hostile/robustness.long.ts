// All cases in one server, one after the other, and then ordinary calls without end: `make check-long`.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBusy } from '../load.ts';
import { Arena, type Row } from './arena.ts';
import { GROUPS } from './cases/index.ts';
import { type Flatness, growth, makeOrdinaryCalls } from './ordinary.ts';
import { rowLine, writeResult } from './result.ts';
import { DAMAGES } from './sequences/damages.ts';
import { type Passage, pass, RECOVERING } from './sequences/sequence.ts';

/** Half of them are to warm up: Node takes memory for what it compiles, and gives none back, for long. */
const CALLS = 40_000;
/** By how many kB a thousand ordinary calls may make the processes grow. */
const SLOPE = { serverSlope: 100, serverHeapSlope: 50, imageSlope: 300, imageHeapSlope: 50 };

/** Processes that want all CPUs. */
const BUSY = 16;

let arena: Arena;
const rows = new Map<string, Row>();
let flatness: Flatness | undefined;
const sequences: Passage[] = [];
const underLoad: Passage[] = [];
beforeAll(async () => {
  arena = await Arena.start();
});
afterAll(async () => {
  if (flatness === undefined) return;
  const { samples, ...measured } = flatness;
  const groups = GROUPS.map(({ title, cases }) => ({
    title,
    rows: cases.flatMap(({ name }) => rows.get(name) ?? []),
  }));
  await writeResult({ groups, flatness: measured, sequences, underLoad });
});

describe.each(GROUPS)('$title', ({ cases }) => {
  test.each(cases.map((trial) => [trial.name, trial] as const))('%s', async (name, trial) => {
    const row = await arena.face(trial);
    rows.set(name, row);
    console.log(rowLine(row));
    expect(row.breaches).toEqual([]);
  });
});

test(`${CALLS} ordinary calls: nothing grows, nothing is left`, async () => {
  const ordinary = await Arena.start({ limitS: 60 });
  flatness = await makeOrdinaryCalls(ordinary, CALLS, 0.5).finally(() => ordinary.close());
  const { samples, wrong, before, after, ...slopes } = flatness;
  console.log('grown in 1000 calls, in kB:', slopes);
  console.log('server:', samples.map(({ serverKb }) => serverKb).join(' '));
  console.log('held before', before, 'after', after);
  expect(growth(flatness, SLOPE)).toEqual([]);
});

describe.each([
  ['images that are damaged but live', 0, DAMAGES, sequences],
  [
    `every fourth of them beside ${BUSY} busy processes`,
    BUSY,
    DAMAGES.filter((_, n) => n % 4 === 0),
    underLoad,
  ],
] as const)('%s', (_, busy, damages, passages) => {
  let recovering: Arena;
  let end = () => {};
  beforeAll(async () => {
    recovering = await Arena.start(RECOVERING);
    end = startBusy(busy);
  });
  afterAll(() => {
    end();
    return recovering.close();
  });

  test.each(damages.map((damage, n) => [damage.name, damage, n] as const))('%s', async (__, damage, n) => {
    const passage = await pass(recovering, damage, 100 + n);
    passages.push(passage);
    console.log(JSON.stringify(passage));
    expect(passage.breaches).toEqual([]);
  });
});

test('when the server has ended, none of the processes that its images started is left', async () => {
  expect(await arena.leftAfterEnd()).toEqual([]);
});
