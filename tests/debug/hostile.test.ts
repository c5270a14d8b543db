// Held errors and hostile code: printers and restarts that fail, threads that are ended, many that are held, an image
// that is lost. A short --hold shows that nothing stays.

import { describe, expect, test } from 'vitest';
import type { Session } from '../harness.ts';
import { until } from '../server/processes.ts';
import { sharedSession } from '../shared.ts';

const session = sharedSession(
  {},
  '(defclass bad () ()) (defmethod print-object ((b bad) s) (error "No print.")) (defclass slow () ()) (defmethod print-object ((b slow) s) (loop)) (defun takes (b) (error "Bad ~a." (type-of b)) b)',
);

const debug = (args: Record<string, unknown> = {}) => session.text('debug', args);

async function hold(form: string, by: Session = session): Promise<number> {
  const text = await by.eval(form, { on_error: 'hold' });
  const [, number] = /^Held as error (\d+)/m.exec(text) ?? [];
  if (number === undefined) throw new Error(`Nothing was held: ${text}`);
  return Number(number);
}

test('a printer that fails hides nothing else', async () => {
  const error = await hold("(takes (make-instance 'bad))");
  expect(await debug({ error, frame: 0 })).toContain('B = #<COMMON-LISP-USER::BAD>');
  expect(await debug({ error, eval: 'b' })).toMatch(/^Error: [\s\S]*Error \d+ is still held\./);
  await debug({ error, end: true });
});

test('a printer that never ends is ended at the limit of the call that holds', async () => {
  const text = await session.eval("(takes (make-instance 'slow))", { on_error: 'hold', timeout: 1 });
  expect(text).toMatch(/^Error: Interrupted after \d+\.\d s, past the limit of this call/);
  expect(await session.eval('1')).toBe('1');
});

test('what never ends in a frame is ended at its limit, and the error stays', async () => {
  const error = await hold('(takes 1)');
  expect(await debug({ error, eval: '(loop)', timeout: 0.5 })).toMatch(
    /^Error: Interrupted after [\s\S]*\n\nError \d+ is still held\.$/,
  );
  expect(await debug({ error, eval: '(error "Within.")' })).toMatch(/^Error: Within\.[\s\S]*still held\.$/);
  expect(await debug({ error, frame: 0, fix: '(defun takes (b', retry: true })).toMatch(
    /^Error: form 1 cannot be read: [\s\S]*still held\.$/,
  );
  expect(await debug({ error, frame: 0, fix: '(defun takes (b) (let ((x 1 2)) b))', retry: true })).toMatch(
    /^The fix was evaluated, but with compile errors \(below\): running that code signals them\. Error \d+ is still held\./,
  );
  await debug({ error, end: true });
});

test('a restart that loops is ended at its limit, and the call with it', async () => {
  const error = await hold('(restart-case (error "No.") (spin () (loop)))');
  expect(await debug({ error, restart: 'spin', timeout: 0.5 })).toMatch(/^Error: Interrupted after /);
  expect(await debug({ error })).toContain('is not held: it went on by its restart SPIN.');
});

test('a restart that comes back, or fails, leaves the error held', async () => {
  const error = await hold(
    '(restart-bind ((back (lambda () 1)) (fails (lambda () (error "Again.")))) (error "No."))',
  );
  expect(await debug({ error, restart: 'back' })).toBe(
    `The restart BACK returned instead of transferring control. Error ${error} is still held.`,
  );
  expect(await debug({ error, restart: 'fails' })).toMatch(/^Error: Again\.\n[\s\S]*Held as error/);
  expect(await debug({ error, eval: '1' })).toMatch(/a newer error of its thread must end first/);
  await debug({ error: error + 1, end: true });
  expect(await debug({ error: error + 1 })).toContain('it was ended');
});

test('a thread that is ended takes its error with it', async () => {
  const error = await hold('(takes 1)');
  expect(await debug({ error, eval: '(sb-thread:abort-thread)' })).toMatch(
    /^Error: Its thread was ended by the code that ran in it, so the call has no value; the image is kept\.$/,
  );
  expect(await debug({ error })).toBe(
    `Error ${error} is not held: a form evaluated in its thread left it by a non-local exit. This session holds no error.`,
  );
});

test('ten are held, and the next says why it is not', async () => {
  const errors: number[] = [];
  for (let count = 0; count < 10; count++) errors.push(await hold('(error "No.")'));
  expect(await session.eval('(error "No.")', { on_error: 'hold' })).toMatch(
    /^Error: No\.\n[\s\S]*Note: the error was not held, because 10 errors are held already: \d/,
  );
  for (const error of errors) await debug({ error, end: true });
});

describe('with a short --hold', () => {
  const hurried = sharedSession({ args: ['--hold', '1'] });

  test('nothing is held longer than its time', async () => {
    let error = 0;
    for (let count = 0; count < 10; count++) error = await hold('(error "No.")', hurried);
    await until('the end of all', 20_000, async () =>
      (await hurried.text('debug')).startsWith('This session holds no error.'),
    );
    expect(await hurried.text('debug', { error, eval: '1' })).toBe(
      `Error ${error} is not held: its time was over, so its call was ended. This session holds no error.`,
    );
  });
});

test('what has no room or no interrupts is not held, and says so', async () => {
  expect(await session.eval('(labels ((f (x) (1+ (f x)))) (f 1))', { on_error: 'hold' })).toContain(
    'Note: the error was not held, because the stack or the heap has no room left for that.',
  );
  expect(await session.eval('(sb-sys:without-interrupts (error "No."))', { on_error: 'hold' })).toContain(
    'Note: the error was not held, because it was signalled where its thread cannot be interrupted.',
  );
});

test('an image that is lost takes its errors with it', async () => {
  const error = await hold('(takes 1)');
  expect(await debug({ error, eval: '(sb-ext:exit :abort t :code 3)' })).toMatch(
    /^Error: The Lisp image was lost during this call[\s\S]*is not held any more\.$/,
  );
  expect(await debug({ error })).toMatch(
    /is not held: it was lost with its image\. This session holds no error\.$/,
  );
  expect(await hold('(takes 1)')).toBe(error + 1);
});
