// Whether fresh images on a machine that is far too busy are kept.

import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Session, startSession } from '../harness.ts';

const LOOP = 'while :; do :; done';
let session: Session;
let end = () => {};
beforeAll(async () => {
  session = await startSession({ args: ['--allow', 'restart_image', '--replay', 'off'] });
  // Each leads a session, and so gets as large a share of the CPUs as an image does.
  const busy = Array.from({ length: 16 }, () =>
    spawn('sh', ['-c', LOOP], { stdio: 'ignore', detached: true }),
  );
  end = () => busy.forEach((child) => void child.kill('SIGKILL'));
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
