// What ends each image that is built with it, though not while it is built, is found and left out.

import { expect, test } from 'vitest';
import type { Entry } from '../../src/image/recovery/entries.ts';
import { Narrowing } from '../../src/image/recovery/narrowing.ts';
import { type Session, startSession } from '../harness.ts';

const TRIES = 100;

/** Evaluates FORM, loses the image of SESSION, and calls until (kept) has its value after something was left out. Returns
 *  what was told. */
async function leftOut(session: Session, form: string, call: string): Promise<string> {
  let told = '';
  const once = async (text: string) => {
    const answer = await session.call('eval_form', { form: text });
    told += answer.notices.join('\n');
    return answer.text;
  };
  for (const each of ['(defun kept () 7)', '(defun kept-too () 8)', form, '(sb-ext:exit :abort t)'])
    await once(each);
  for (let calls = 0; calls < TRIES; calls++) {
    if ((await once(call)) === '7' && told.includes('it is left out from now on')) return told;
  }
  throw new Error(`It never worked again: ${told}`);
}

test('a hook that ends the image with the next collection', async () => {
  const session = await startSession({});
  const told = await leftOut(
    session,
    '(let () (defun with-hook () 1) (setf sb-ext:*after-gc-hooks* (list (lambda () (sb-ext:exit :abort t)))))',
    '(progn (sb-ext:gc) (kept))',
  );
  expect(told).toMatch(
    /\n {2}\(let \(\) \(defun with-hook \(\) 1\) \(setf .*: the image was lost when it was built with it \(.*; it is left out from now on/,
  );
  // The agent is not to blame, so it keeps all of its parts.
  expect(told).not.toContain('plain one');
  expect(await session.eval('(list (kept) (kept-too) (fboundp (quote with-hook)))')).toBe('(7 8 NIL)');
  await session.close();
});

test('a thread that ends the image after a while', async () => {
  const session = await startSession({});
  const told = await leftOut(
    session,
    '(let () (defun bomb () 1) (sb-thread:make-thread (lambda () (sleep 0.3) (sb-ext:exit :abort t))))',
    '(progn (sleep 0.4) (kept))',
  );
  expect(told).toMatch(
    /\(let \(\) \(defun bomb .*\.\.\.: it starts a thread or a timer, and images that were built with it were lost soon; it is left out from now on/,
  );
  expect(await session.eval('(list (kept) (kept-too) (fboundp (quote bomb)))')).toBe('(7 8 NIL)');
  await session.close();
});

test('a thread is not to blame for images that calls end themselves', async () => {
  const session = await startSession({});
  await session.eval(
    '(let () (defun with-worker () 1) (sb-thread:make-thread (lambda () (loop (sleep 1)))))',
  );
  const told: string[] = [];
  for (const _ of [1, 2, 3, 4, 5, 6])
    told.push(...(await session.call('eval_form', { form: '(sb-ext:exit)' })).notices);
  expect(await session.eval('(with-worker)')).toBe('1');
  expect(told.join('\n')).not.toContain('left out');
  await session.close();
});

test('an image with threads that is lost in one first call is built again with them', async () => {
  const session = await startSession({});
  await session.eval(
    '(let () (defun with-worker () 1) (sb-thread:make-thread (lambda () (loop (sleep 1)))))',
  );
  await session.eval('(sb-ext:exit :abort t)');
  await session.eval('(sb-ext:exit :abort t)');
  const { text, notices } = await session.call('eval_form', { form: '(with-worker)' });
  expect([text, notices.join('\n').includes('left out')]).toEqual(['1', false]);
  await session.close();
});

test('of 20,000 entries the one to blame is found in four images', () => {
  const entries: Entry[] = Array.from({ length: 20_000 }, (_, n) => ({
    kind: 'package',
    inPackage: `P${n}`,
  }));
  for (const culprit of [0, 1, 665, 667, 12_345, 19_999]) {
    const narrowing = new Narrowing(false);
    let found: Entry | undefined;
    let images = 0;
    while (found === undefined && images < 10) {
      images++;
      const bad = narrowing.probePoints(entries).find((place) => {
        const ending = { kind: place > culprit ? 'aborted' : 'done' } as const;
        return narrowing.recordProbe(place, ending, true, 0) !== undefined;
      });
      found = narrowing.culprit(bad ?? -1);
    }
    expect([found, images <= 4]).toEqual([entries[culprit], true]);
  }
});
