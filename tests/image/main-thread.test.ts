// main_thread runs a call in the main thread of the image, one at a time, and it can be ended there too.

import { beforeAll, expect, test } from 'vitest';
import { type Answer, NO_SYSTEMS } from '../harness.ts';
import { until } from '../server/processes.ts';
import { sharedSession } from '../shared.ts';

const session = sharedSession({ args: NO_SYSTEMS });
beforeAll(async () => {
  await session.eval(`(defvar *kept* :kept)
    (defun works () (unwind-protect (loop (sleep 0.01)) (print :cleaned)))
    (defun signalled () (sb-unix:unix-kill (sb-unix:unix-getpid) sb-unix:sigint) (sleep 60))`);
});

/** Evaluates FORM in the main thread. */
function inMain(form: string, more: object = {}): Promise<Answer> {
  return session.call('eval_form', { form, main_thread: true, ...more });
}

/** Returns the text and the notices of the answer to FORM, evaluated in the main thread. */
async function reportedInMain(form: string, more: object = {}): Promise<string> {
  const { text, notices } = await inMain(form, more);
  return [text, ...notices].join('\n');
}

/** Begins to evaluate FORM in the main thread, and returns the answer to come once it runs. */
async function begin(form: string): Promise<{ answer: Promise<Answer> }> {
  const answer = inMain(form);
  await until('the call', 60_000, async () =>
    (await session.text('image_status')).includes('COMMON-LISP-USER::WORKS'),
  );
  return { answer };
}

test('a call runs in the main thread, with the handlers, restarts and streams of a call', async () => {
  const form = `(progn (print (sb-thread:main-thread-p))
    (list (remove-duplicates (mapcar #'restart-name (compute-restarts))) (read-line *standard-input* nil) (sb-thread:thread-name sb-thread:*current-thread*)))`;
  const elsewhere = await session.eval(form);
  expect(await reportedInMain(form)).toBe(
    elsewhere.replace('live-lisp evaluate', 'main thread').replace(/NIL$/, 'T'),
  );
});

test('what a call defines and sets lasts, as elsewhere; its floating-point modes do not', async () => {
  await inMain(
    '(setf *print-base* 8 *kept* 64) (sb-int:set-floating-point-modes :traps nil) (defun from-main () *kept*)',
  );
  expect(await session.eval('(from-main)')).toBe('100');
  await inMain('(setf *print-base* 10 *kept* :kept)');
  expect((await inMain('(let ((x 0.0)) (/ 1.0 x))')).text).toContain('DIVISION-BY-ZERO');
});

test('an interrupt from the keyboard reaches the call, and its handlers', async () => {
  expect(await reportedInMain('(handler-case (signalled) (sb-sys:interactive-interrupt () :caught))')).toBe(
    ':CAUGHT',
  );
  expect(await reportedInMain('(signalled)')).toMatch(/^Error: Interactive interrupt at /);
  // When no call runs there, it is for nobody.
  expect(await session.eval('(progn (sb-unix:unix-kill (sb-unix:unix-getpid) sb-unix:sigint) *kept*)')).toBe(
    ':KEPT',
  );
});

test('a call that comes with the answer of the one before is taken', async () => {
  for (let count = 0; count < 50; count++)
    expect(await reportedInMain(`(* 2 ${count})`)).toBe(String(2 * count));
});

test('a second call is told what runs there; interrupt ends that', async () => {
  const { answer } = await begin('(works)');
  const second = await inMain('(setf *kept* :lost)');
  expect({ ...second, text: second.text.replace(/\d+ \(/, 'N (').replace(/\d+\.\d s/, 'N s') }).toEqual({
    text: 'Error: the main thread runs another call: N (eval_form (works), N s). Nothing was evaluated. Wait for that call, or end it with interrupt; then call again.',
    notices: [],
    isError: true,
  });
  expect(await session.eval('*kept*')).toBe(':KEPT');
  await session.call('interrupt');
  const { text } = await answer;
  expect(text).toContain('by the tool interrupt; the image and what was done so far are kept.');
  expect(text).toContain('Output:\n:CLEANED');
  expect(await reportedInMain('*kept*')).toBe(':KEPT');
});

test('an error is held there, and the next call is told so until it is ended', async () => {
  const held = await inMain('(list (cerror "Go on." "No.") (sb-thread:main-thread-p))', { on_error: 'hold' });
  const [, number] = /Held as error (\d+)/.exec(held.text) ?? [];
  expect(await inMain('1')).toEqual({
    text: `Error: the main thread is stopped at error ${number}, so nothing was evaluated. Continue from that error with debug, or end it (debug with error: ${number}, end: true), then call again.`,
    notices: [],
    isError: true,
  });
  const looked = await session.call('debug', { error: Number(number), eval: '(sb-thread:main-thread-p)' });
  expect(looked.text).toMatch(/^T/);
  const resumed = await session.call('debug', { error: Number(number), restart: 'continue' });
  expect(resumed.text).toMatch(/\(NIL T\)/);
  expect(await reportedInMain('(+ 1 2)')).toBe('3');
});

test('the program can interrupt the main thread, but not end it', async () => {
  expect(
    await session.eval(`(let ((done (sb-thread:make-semaphore)) (seen nil))
      (sb-thread:interrupt-thread (sb-thread:main-thread)
        (lambda () (setf seen (sb-thread:main-thread-p)) (sb-thread:signal-semaphore done)))
      (sb-thread:wait-on-semaphore done :timeout 10)
      seen)`),
  ).toBe('T');
  expect(await session.eval('(sb-thread:terminate-thread (sb-thread:main-thread))')).toBe(
    'NIL\n\nWarnings (1):\n  WARNING (form 1): The thread main thread answers the server, so it is left alone.',
  );
  await session.eval(
    '(sb-thread:interrupt-thread (sb-thread:main-thread) (lambda () (unwind-protect (error "In main.") (setf *kept* :unwound))))',
  );
  await until('its end', 60_000, async () => (await session.eval('*kept*')).startsWith(':UNWOUND'));
  const { text, notices } = await session.call('eval_form', { form: '(setf *kept* :kept)' });
  expect([text, ...notices].join('\n')).toBe(':KEPT');
});

test('a call for which the main thread stands still is not begun, and the image is kept', async () => {
  const standing = `(let ((begun (sb-thread:make-semaphore)))
    (sb-thread:interrupt-thread (sb-thread:main-thread)
      (lambda () (sb-thread:signal-semaphore begun) (loop until (eq *kept* :go) do (sleep 0.01))))
    (sb-thread:wait-on-semaphore begun))`;
  await session.eval(standing);
  const { text } = await inMain('(setf *kept* :lost)', { timeout: 1 });
  expect(text.replace(/\d+\.\d s/, 'N s')).toBe(
    'Error: Ended at its limit after a wait of N s; the call had not begun, so nothing was done.\n\nIf it needs longer, give a longer timeout (seconds).',
  );
  expect(await session.eval('(shiftf *kept* :go)')).toBe(':KEPT');
  expect(await reportedInMain('(setf *kept* :kept)')).toBe(':KEPT');
});

test('an exit ends the image with its code, after its cleanup forms', async () => {
  const { text } = await inMain('(unwind-protect (sb-ext:exit :code 3) (print :cleaned))');
  expect(text).toBe(
    'Error: The Lisp image was lost during this call: it exited with code 3. The next call gets a new image.\n\nOutput:\n:CLEANED',
  );
  expect((await inMain('(+ 1 2)')).text).toBe('3');
});
