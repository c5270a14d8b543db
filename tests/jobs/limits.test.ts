// Limits: what runs too long is ended, and the image is kept wherever that can be.

import { chmodSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Answer, good, type Session, temporaryFolder, testSbcl, warmCache } from '../harness.ts';
import { until } from '../server/processes.ts';
import { ownSession, sharedFolder, sharedSession } from '../shared.ts';

const INTERRUPTED =
  /^Error: Interrupted after (\d+\.\d) s, past the limit of this call; the image and what was done so far are kept\./;

const DEFINITIONS = `(defvar *before* :kept)
  (defclass never-printed () ())
  (defmethod print-object ((x never-printed) s) (declare (ignore s)) (loop))
  (defmacro never-expanded () (loop))`;

/** A limit in seconds, in which a call comes to what never ends, also on a busy machine. A call that has not begun is
 *  ended with another text. */
const REACHED = 3;
/** Enough seconds for what ends by itself, also on a busy machine. */
const ENOUGH = 60;

async function isKept(session: Session): Promise<void> {
  expect(await session.call('eval_form', { form: '*before*', timeout: ENOUGH })).toEqual(good(':KEPT'));
}

describe('the argument timeout', () => {
  const session = sharedSession({}, DEFINITIONS);

  // tests/hostile/cases/loops.ts and threads.ts have more forms that never end.
  test('interrupts what prints without end, and keeps the image', async () => {
    const form = "(make-instance 'never-printed)";
    const { text, isError, notices } = await session.call('eval_form', { form, timeout: REACHED });
    expect([isError, notices]).toEqual([true, []]);
    expect(text).toMatch(INTERRUPTED);
    await isKept(session);
  });

  test('ends the thread of what does not react, and keeps the image', async () => {
    const form = '(unwind-protect (unwind-protect (loop) (loop)) (loop))';
    const { text } = await session.call('eval_form', { form, timeout: REACHED });
    expect(text).toMatch(/^Error: .*; the image is kept\./m);
    await isKept(session);
  });

  test('is for its call only', async () => {
    await session.call('eval_form', { form: '(loop)', timeout: 0.1 });
    expect(await session.eval('(sleep 0.3)')).toBe('NIL');
  });

  test('what was done and written so far is kept and shown', async () => {
    const { text } = await session.call('eval_form', {
      form: '(defvar *half* 1) (progn (setf *half* 2) (princ "half way") (loop))',
      timeout: REACHED,
    });
    expect(text).toMatch(INTERRUPTED);
    expect(text).toMatch(
      /\n\nValues of the forms before the failed one:\n\[1\] \*HALF\*\n\nOutput:\nhalf way$/,
    );
    expect(await session.eval('*half*')).toBe('2');
  });

  test('interrupts a load too', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder.path}/slow.lisp`, '(defvar *slow-began* t)\n(sleep 100)\n');
    const { text, isError } = await session.call('load_file', {
      path: `${folder.path}/slow.lisp`,
      timeout: REACHED,
    });
    folder.remove();
    expect(isError).toBe(true);
    expect(text).toMatch(
      /was loaded only up to the form where loading stopped\.\n\nInterrupted after \d+\.\d s/,
    );
    expect(await session.eval('*slow-began*')).toBe('T');
    await isKept(session);
  });
});

describe('--eval-timeout', () => {
  const session = sharedSession({ args: ['--eval-timeout', String(REACHED)] });
  beforeAll(() => session.eval(DEFINITIONS, { timeout: ENOUGH }));

  test('interrupts the expansion of a macro', async () => {
    expect(await session.eval('(never-expanded)')).toMatch(INTERRUPTED);
    await isKept(session);
  });

  test('a longer timeout of the call wins', async () => {
    expect(await session.eval(`(sleep ${REACHED + 1})`, { timeout: ENOUGH })).toBe('NIL');
  });

  test('holds for lookups that run code of the program', async () => {
    await session.eval("(defvar *shown* (make-instance 'never-printed))", { timeout: ENOUGH });
    const { text, isError } = await session.call('describe_symbol', { symbol: '*shown*' });
    if (isError) expect(text).toMatch(/^Interrupted after /);
    else expect(text).toContain('COMMON-LISP-USER::*SHOWN*');
    await isKept(session);
  });

  test('does not hold for loads', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder.path}/slower.lisp`, `(sleep ${REACHED + 1})\n(defvar *slower* t)\n`);
    const { text } = await session.call('load_file', { path: `${folder.path}/slower.lisp` });
    folder.remove();
    expect(text).toMatch(/^Loaded /);
    expect(await session.eval('*slower*', { timeout: ENOUGH })).toBe('T');
  });
});

describe('side by side', () => {
  /** Returns a form that runs until the file FLAG exists. */
  const busy = (flag: string) =>
    `(loop until (probe-file "${flag}") do (sleep 0.02) finally (return :through))`;

  const folder = sharedFolder();
  const session = sharedSession(
    {},
    '(defun helper (x) x) (defun user-of-helper (x) (helper x)) (defvar *running* 0)',
  );

  /** Starts COUNT evaluations that end when the returned function is called. */
  async function occupy(count: number, name: string) {
    const flag = `${folder.path}/${name}`;
    await session.eval('(setf *running* 0)');
    const form = `(progn (sb-ext:atomic-update (symbol-value '*running*) #'1+) ${busy(flag)})`;
    const calls = Array.from({ length: count }, () => session.call('eval_form', { form }));
    await until('all run', 10_000, async () => (await running()) === count);
    return { calls, free: () => writeFileSync(flag, '') };
  }

  /** A lookup needs no place, so it can tell how many run. */
  async function running(): Promise<number> {
    const text = await session.text('describe_symbol', { symbol: '*running*' });
    return Number(/Value: (\d+)/.exec(text)?.[1]);
  }

  /** Resolves once image_status tells what PATTERN matches. */
  async function statusOnce(pattern: RegExp): Promise<void> {
    await until(String(pattern), 10_000, async () => pattern.test(await session.text('image_status')));
  }

  test('lookups answer while an evaluation runs', async () => {
    const { calls, free } = await occupy(1, 'one');
    expect(await session.text('who_calls', { name: 'helper' })).toContain('COMMON-LISP-USER::USER-OF-HELPER');
    expect(await session.text('apropos_search', { pattern: 'user-of-h', package: 'cl-user' })).toContain(
      'Found 1 ',
    );
    expect(await session.text('describe_symbol', { symbol: 'helper' })).toContain('[FUNCTION]');
    expect(await session.eval('(+ 1 2)')).toBe('3');
    free();
    expect((await Promise.all(calls)).map(({ text }) => text)).toEqual([':THROUGH']);
  });

  test('the ninth waits, is told so by progress, runs when there is a place, and is told that it waited', async () => {
    const { calls, free } = await occupy(8, 'eight');
    const messages: (string | undefined)[] = [];
    let ninth: Answer | undefined;
    const waiting = session
      .call(
        'eval_form',
        { form: '(list :ninth)' },
        { onprogress: (each: { message?: string }) => messages.push(each.message) },
      )
      .then((answer) => {
        ninth = answer;
      });
    await until('the progress', 5000, () => messages.length > 0);
    expect(messages[0]).toMatch(/^\d+\.\d s, waiting behind 8 calls that run$/);
    expect(await session.text('who_calls', { name: 'helper' })).toContain('COMMON-LISP-USER::USER-OF-HELPER');
    expect(ninth).toBeUndefined();
    free();
    await waiting;
    // The text is the value, and nothing else.
    expect(ninth?.text).toBe('(:NINTH)');
    expect(ninth?.notices[0]).toMatch(
      /^Note: the call waited \d+\.\d s, because no more evaluations could run at once\.$/,
    );
    for (const { text } of await Promise.all(calls)) expect(text).toBe(':THROUGH');
  });

  test('a wait for the start of the image is not told as one for a place', async () => {
    const slow = folder.put('slow-sbcl', `#!/bin/sh\nsleep 1\nexec '${testSbcl()}' "$@"\n`);
    chmodSync(slow, 0o755);
    // Its core would drive that of the other tests out of the user's cache.
    const cache = `${folder.path}/cache`;
    warmCache(cache);
    const starting = await ownSession({ args: ['--sbcl', slow], env: { XDG_CACHE_HOME: cache } });
    const forms = Array.from({ length: 12 }, (_, number) => `(+ ${number} 1)`);
    const answers = await Promise.all(forms.map((form) => starting.call('eval_form', { form })));
    expect(answers).toEqual(forms.map((_, number) => good(String(number + 1))));
  });

  test('the time in the queue is not part of the limit', async () => {
    const { calls, free } = await occupy(8, 'limit');
    const waiting = session.call('eval_form', { form: '(list :in-time)', timeout: REACHED });
    await statusOnce(new RegExp(`\\(list :in-time\\) \\((?:[${REACHED}-9]|[1-9]\\d+)\\.\\d s, waits `));
    free();
    expect((await waiting).text).toBe('(:IN-TIME)');
    await Promise.all(calls);
  });

  test('a call that is cancelled while it waits never runs, and the rest keep their places', async () => {
    const { calls, free } = await occupy(8, 'cancel');
    const controller = new AbortController();
    const cancelled = session.call(
      'eval_form',
      { form: '(defvar *never* 1)' },
      { signal: controller.signal },
    );
    const rejected = expect(cancelled).rejects.toThrow();
    const last = session.call('eval_form', { form: '(list :last)' });
    await statusOnce(/2 wait\./);
    controller.abort();
    await rejected;
    await statusOnce(/1 waits\./);
    free();
    expect((await last).text).toMatch(/^\(:LAST\)/);
    await Promise.all(calls);
    expect(await session.call('eval_form', { form: "(boundp '*never*)" })).toEqual(good('NIL'));
  });
});
