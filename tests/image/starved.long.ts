// Whether fresh images on a machine that is far too busy are kept.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Session, startSession } from '../harness.ts';
import { startBusy } from '../load.ts';

let session: Session;
let end = () => {};
beforeAll(async () => {
  session = await startSession({ args: ['--allow', 'restart_image', '--replay', 'off'] });
  end = startBusy(16);
});
afterAll(async () => {
  end();
  await session.close();
});

test('200 fresh images take a definition while 16 other processes want all CPUs', async () => {
  const answers = new Map<string, number>();
  for (let image = 0; image < 200; image++) {
    await session.call('restart_image', { rebuild: 'none' });
    await session.eval('(+ 1 2)');
    const answer = await session.eval('(defun f (x) (* 2 x))');
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  }
  expect([...answers]).toEqual([['F', 200]]);
});
