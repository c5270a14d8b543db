// Memory besides the heap: foreign code that allocates for ever fails, and nothing else does.

import { expect, test } from 'vitest';
import { sharedSession } from '../shared.ts';

const USE_UP =
  '(handler-case (loop (sb-alien:make-alien sb-alien:char 1000000)) (serious-condition () :no-more))';

const session = sharedSession({ args: ['--heap', '512MB'] }, '(defvar *before* :kept)');

test('a child process is not bounded', async () => {
  const form = '(sb-ext:run-program "/bin/sh" (list "-c" "ulimit -v") :output *standard-output*)';
  expect(await session.eval(form)).toMatch(/\n\nOutput:\nunlimited$/);
  const node = `(sb-ext:process-exit-code (sb-ext:run-program ${JSON.stringify(process.execPath)} (list "-e" "new WebAssembly.Memory({ initial: 1 })")))`;
  expect(await session.eval(node)).toBe('0');
});

test('as many threads as can be made are no harm', async () => {
  await session.eval('(defvar *threads* nil)');
  const form = `(progn
    (handler-case (loop repeat 10000 do (push (sb-thread:make-thread (lambda () (sleep 100))) *threads*))
      (error () :no-more))
    (< 500 (length *threads*)))`;
  expect(await session.eval(form, { timeout: 60 })).toBe('T');
  expect(await session.eval('*before*')).toBe(':KEPT');
  await session.eval('(progn (mapc (function sb-thread:terminate-thread) *threads*) (setf *threads* nil))');
});

test('files that are never closed stop the image at most, not the server', async () => {
  const form = `(handler-case (loop repeat 2000 collect (open "/dev/null") into all finally (return (mapc #'close all)))
    (error () :no-more))`;
  expect((await session.call('eval_form', { form })).isError).toBe(false);
  expect(await session.eval('*before*')).toBe(':KEPT');
});

test('foreign memory that is taken for ever ends in a condition, and calls go on', async () => {
  expect(await session.eval(USE_UP, { timeout: 60 })).toBe(':NO-MORE');
  expect(await session.eval('(+ 1 2)')).toBe('3');
  expect(await session.eval('*before*')).toBe(':KEPT');
  expect(await session.eval('(length (loop repeat 1000000 collect 1))')).toBe('1000000');
  expect(await session.eval('(progn (gc :full t) :collected)')).toBe(':COLLECTED');
  const many = Array.from({ length: 8 }, (_, n) => session.eval(`(progn (sleep 0.1) ${n})`));
  expect(await Promise.all(many)).toEqual(Array.from({ length: 8 }, (_, n) => String(n)));
  expect((await session.call('apropos_search', { pattern: 'mapcar' })).isError).toBe(false);
});

test('a call without the limit that ends after the backend has lifted the limit does not set it again', async () => {
  const form = `(in-package "LIVE-LISP.GUARD")
    (let ((limits **limits**) (now (make-array 2 :element-type '(unsigned-byte 64))))
      (call-unlimited #'lift-limits)
      (limit-call "getrlimit" now)
      (when limits
        (setf **limits** limits)
        (set-limits (limits-now limits)))
      (or (null limits) (= (aref now 0) (aref (limits-before limits) 0))))`;
  expect(await session.eval(form, { package: 'CL-USER' })).toMatch(/T$/);
});
