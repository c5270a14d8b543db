// The heap of the image: whoever fills it is ended, whatever lives in it, and nobody else.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '../harness.ts';
import { everyNth, LONG } from '../long.ts';
import { until } from '../server/processes.ts';
import { ownSession, sharedFolder, sharedSession } from '../shared.ts';

const FULL =
  /^Error: Interrupted after \d+\.\d s because it was about to exhaust the heap; the image is kept\. Allocate less at once, or ask the user for a larger --heap\./;

/** Megabytes of heap: what fills more takes longer. */
const HEAP_MB = LONG ? 512 : 256;
/** How often a test fills it. */
const ROUNDS = LONG ? 3 : 1;

const DEFINITIONS = `(defvar *before* :kept)
  (defconstant +mb+ (* 1024 1024))
  (defvar *app* '())
  (defun part () (/ (sb-kernel:dynamic-usage) ${HEAP_MB} +mb+))
  (defun fill-to (part) (loop while (< (part) part) do (push (loop repeat 5000 collect (list 1)) *app*)))
  (defun grow () (let ((all '())) (loop (push (list 1 2) all))))`;

async function isKept(session: Session): Promise<void> {
  expect(await session.call('eval_form', { form: '*before*' })).toMatchObject({
    text: ':KEPT',
    isError: false,
  });
}

/** The flags for an image with such a heap. */
const SMALL = ['--heap', `${HEAP_MB}MB`];

/** Returns the session of a small image, of a server with ARGS, which the tests of a group share and must keep. */
function sharedImage(...args: string[]): Session {
  const session = sharedSession({ args: [...SMALL, ...args] }, DEFINITIONS);
  afterEach(() => isKept(session));
  return session;
}

describe('an image with little in it', () => {
  const session = sharedImage();

  const ended = [
    '(grow)',
    '(let ((all nil)) (loop (push (make-array 1000000) all)))',
    '(let ((all (make-hash-table))) (loop for i from 0 do (setf (gethash i all) (list i))))',
    // It leaves much of a page empty, which no count of octets tells.
    '(let ((all nil)) (loop (push (make-array 17000) all)))',
    '(loop (push (list 1 2) *app*))',
    "(sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-thread:join-thread (sb-thread:make-thread #'grow)))))",
  ];
  test.each(everyNth(4, ended))('%s is ended', async (form) => {
    const { text, isError } = await session.call('eval_form', { form, timeout: 60 });
    expect(isError).toBe(true);
    // A large vector may find no room before the next collection.
    expect(text).toMatch(
      /1000000|join|hash-table/.test(form)
        ? /^Error: (Interrupted|Heap exhausted|Joining thread failed)/
        : FULL,
    );
    await session.eval('(setf *app* nil)');
  });

  test('a thread that nobody waits for is ended, and told', async () => {
    await session.eval('(progn (sb-thread:make-thread #\'grow :name "greedy") 1)');
    const reported = await until('what is told of it', 10_000, async () => {
      const { notices } = await session.call('eval_form', { form: '1' });
      return notices.length > 0 && notices;
    });
    expect(reported.join('\n')).toContain(
      'The thread greedy was ended because it was about to exhaust the heap.',
    );
    const count =
      '(count "greedy" (sb-thread:list-all-threads) :key (function sb-thread:thread-name) :test (function equal))';
    await until('its end', 10_000, async () => (await session.eval(count)) === '0');
  });

  test('a job beside the one that grows goes on', async () => {
    const quiet = session.eval('(progn (loop repeat 40 do (make-list 1000) (sleep 0.05)) :done)');
    const text = await session.eval('(grow)');
    expect(text).toMatch(FULL);
    expect(text).toContain('It was at:\n  0: (COMMON-LISP-USER::GROW)');
    expect(await quiet).toBe(':DONE');
  });
});

describe('a fresh image', () => {
  test('large vectors, which are never copied, can take turns', async () => {
    const fresh = await ownSession({ args: SMALL });
    const octets = HEAP_MB * 40_000;
    const form = `(let (v) (loop repeat 60 do (setf v nil v (make-array ${octets} :element-type '(unsigned-byte 8)))) (length v))`;
    expect(await fresh.eval(form)).toBe(String(octets));
  });

  test('that vectors have filled is empty again for the next evaluation', async () => {
    const fresh = await ownSession({ args: SMALL });
    await fresh.eval(DEFINITIONS);
    for (let round = 0; round < ROUNDS; round++) {
      expect(
        await fresh.eval(
          '(let ((all (make-array 0 :adjustable t :fill-pointer t))) (loop (vector-push-extend (list 1) all)))',
        ),
      ).toMatch(/^Error: (Interrupted|Heap exhausted)/);
      expect(await fresh.eval('(list *app* (< (part) 0.1))')).toBe('(NIL T)');
    }
  });
});

describe('an image nearly full of large vectors', () => {
  const session = sharedImage();

  test('lets a job make garbage many times the room that is left', async () => {
    const octets = HEAP_MB * 635_000;
    const count = HEAP_MB * 1000;
    await session.eval(`(defvar *vector* (make-array ${octets} :element-type '(unsigned-byte 8)))`);
    for (let round = 0; round < 4; round++)
      await session.eval(`(progn (loop repeat ${count} do (push (list 1) *app*)) 1)`);
    expect(
      await session.eval(
        `(dotimes (i 20 :ok) (let ((all (loop repeat ${count} collect (list i)))) (length all)))`,
      ),
    ).toBe(':OK');
  });

  test('ends one that makes data, also where the room is less than what is made between two collections', async () => {
    await session.eval('(progn (setf *vector* nil *app* nil) 1)');
    for (let round = 0; round < 2; round++) {
      expect(await session.eval('(loop (push (make-string 1000000) *app*))')).toMatch(/^Error: /);
    }
    for (let round = 0; round < 2; round++) {
      expect(await session.eval('(let ((all nil)) (loop (push 1 all)))')).toMatch(FULL);
    }
    expect(await session.eval('(< 0.9 (part))')).toBe('T');
  });

  test('is guarded also when the program took the guard away', async () => {
    await session.eval('(progn (setf *app* nil sb-ext:*after-gc-hooks* nil) 1)');
    expect(await session.eval('(grow)')).toMatch(FULL);
  });
});

describe('an application that fills 60 % of the heap', () => {
  const folder = sharedFolder();
  const session = sharedImage('--eval-timeout', '60');
  beforeAll(async () => {
    for (const part of [0.2, 0.35, 0.5, 0.6]) expect(await session.eval(`(fill-to ${part})`)).toBe('NIL');
  });

  test('leaves room for a small load', async () => {
    const path = join(folder.path, 'small.lisp');
    writeFileSync(path, '(defun small (x) (* 2 x))\n(defclass small () ((slot :initform 1)))\n');
    expect((await session.call('load_file', { path })).isError).toBe(false);
    expect(await session.eval('(small 4)')).toBe('8');
  });

  test('leaves room for garbage, which is collected', async () => {
    expect(await session.eval('(progn (loop repeat 500 do (make-list 100000)) (< (part) 0.8))')).toBe('T');
  });

  test('lives on when all is collected at once, for which there is no room', async () => {
    expect(await session.eval('(progn (gc :full t) (gc :full t) (< 0.5 (part) 0.7))')).toBe('T');
  });

  test('what is looked up meanwhile does not keep what such a job made', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      let ended = false;
      const grow = session.eval('(grow)').finally(() => {
        ended = true;
      });
      while (!ended) await session.call('apropos_search', { pattern: 'mapcar' });
      expect(await grow).toMatch(FULL);
    }
    expect(await session.eval('(< (part) 0.65)')).toBe('T');
  });

  test('cannot grow for ever either', async () => {
    for (let round = 0; round < ROUNDS; round++) await session.eval('(fill-to 0.99)');
    expect(await session.eval('(+ 1 2)')).toBe('3');
    expect(await session.eval('(< 0.7 (part))')).toBe('T');
  });
});
