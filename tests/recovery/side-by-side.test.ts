// Calls that run side by side: what one of them changed for all is not taken for what another did.

import { expect, test } from 'vitest';
import { afterLoss, built, killImage, reported, sessions } from './losses.ts';

const start = sessions();

/** Changes what all calls share while another runs; evaluated again alone it waits for nobody. */
const CHANGES = `(let ()
  (when *together* (sb-thread:wait-on-semaphore *runs*))
  (make-package "MADE")
  (pushnew :pushed *features*)
  (declaim (optimize (debug 3)))
  (when *together* (sb-thread:signal-semaphore *changed*) (sb-thread:wait-on-semaphore *sent*)))`;

/** Runs while that happens, and ends before the other does. */
const SENDS = `(let ()
  (sb-thread:signal-semaphore *runs*)
  (sb-thread:wait-on-semaphore *changed*)
  (incf *messages*))`;

test('a call that only sends is not run again because another changed something for all meanwhile', async () => {
  const session = await start();
  await session.eval('(defvar *messages* 0) (defvar *together* nil)');
  for (const name of ['*runs*', '*changed*', '*sent*']) {
    await session.eval(`(defvar ${name} (sb-thread:make-semaphore))`);
  }
  await session.eval('(setf *together* t)');
  const changes = session.eval(CHANGES);
  expect(await session.eval(SENDS)).toBe('1');
  await session.eval('(sb-thread:signal-semaphore *sent*)');
  await changes;
  await killImage(session);
  const shows = '(list *messages* (and (find-package "MADE") t) (find :pushed *features*))';
  expect(await afterLoss(session, shows)).toEqual({
    text: '(0 T :PUSHED)',
    reported: reported(
      built('6 forms'),
      'Forms rebuilt with the initial values of variables, not the values set since (1):',
      `  ${CHANGES.replace(/\s+/g, ' ').slice(0, 80)}...`,
      'Not run again: 3 forms in which no definition was seen; they may have set COMMON-LISP-USER::*TOGETHER*, COMMON-LISP-USER::*MESSAGES*. What only these forms created is gone.',
    ),
  });
});
