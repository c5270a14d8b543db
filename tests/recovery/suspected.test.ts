// When what is built again is suspected of ending the images that are built with it.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { JournalStore } from '../../src/image/recovery/entries.ts';
import { Recovery } from '../../src/image/recovery/recovery.ts';
import type { Peer } from '../../src/image/wire/peer.ts';
import { TIMES } from '../../src/image/wire/times.ts';

const NOWHERE: JournalStore = {
  append: () => {},
  clear: () => {},
  keep: () => {},
  content: () => undefined,
  previous: () => undefined,
};
const ALIVE = {
  dead: false,
  request: () => ({
    id: 1,
    answer: Promise.resolve({ ending: { kind: 'done' }, data: { value: true, failed: [], works: true } }),
  }),
  job: () => ({
    interrupt: () => {},
    terminate: () => {},
    reacts: async () => {},
    collecting: () => false,
    deniedMs: () => 0,
    kill: () => {},
  }),
} as unknown as Peer;

let recovery: Recovery;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  recovery = new Recovery(NOWHERE, { ...TIMES, soon: 10_000 });
  recovery.journal.add({ kind: 'form', text: '(defun f () 1)', package: 'COMMON-LISP-USER' });
  recovery.noteUse();
  recovery.noteLoss('it ended');
});
afterEach(() => {
  vi.useRealTimers();
});

/** Builds an image that lives for SECONDS; returns how many the report of its predecessors names. */
async function life(seconds: number, used = true): Promise<number | undefined> {
  await recovery.rebuildIn(ALIVE);
  recovery.takeReport();
  if (used) {
    recovery.noteUse();
    recovery.noteSurvivedCall();
  }
  vi.advanceTimersByTime(seconds * 1000);
  recovery.noteLoss('it ended');
  return recovery.lastLoss?.barren;
}

test('not when one between was used for longer, or nobody used it for long', async () => {
  for (const used of [true, false]) {
    expect([await life(1), await life(11, used), await life(1), await life(1)]).toEqual(
      [1, 2, 3, 4].map(() => undefined),
    );
    await life(11);
  }
});

test('not when restart_image ended one', async () => {
  expect([await life(1), await life(1)]).toEqual([undefined, undefined]);
  await recovery.rebuildIn(ALIVE);
  recovery.takeReport();
  recovery.chooseRebuild('session');
  recovery.noteLoss('restart_image ended it');
  expect([await life(1), await life(1), await life(1)]).toEqual([undefined, undefined, 2]);
});
