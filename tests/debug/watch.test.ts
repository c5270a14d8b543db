// debug with watch and thread: errors in threads of the program, before their handlers, and what threads do.

import { beforeEach, describe, expect, test } from 'vitest';
import { until } from '../server/processes.ts';
import { sharedFolder, sharedSession } from '../shared.ts';
import { SHOP } from './shop.ts';

const root = sharedFolder();
root.put('shop.lisp', SHOP);
const session = sharedSession({ args: ['--root', root.path], cwd: root.path });

// Each test has the file's own definitions.
beforeEach(() => session.call('load_file', { path: 'shop.lisp' }));

const debug = (args: Record<string, unknown> = {}) => session.text('debug', args);

describe('a watch', () => {
  const start = (name: string) =>
    session.eval(
      `(progn (defvar cl-user::*got* nil) (setf cl-user::*got* nil) (sb-thread:make-thread (lambda () (setf cl-user::*got* (handler-case (app::total '("b")) (error () :handled)))) :name "${name}") 1)`,
    );
  const heldIn = (thread: string) =>
    until('an error in the thread', 10_000, async () => {
      const [, number] = new RegExp(`(\\d+): \\S+ in the thread ${thread}`).exec(await debug()) ?? [];
      return number !== undefined && Number(number);
    });

  test('holds an error before the handlers of its thread; let go, those run', async () => {
    expect(await debug({ watch: 'worker', hold: true })).toBe(
      'Errors in worker are recorded when signalled, even if handled; get_last_error with watched: true shows them. Each stops its thread until 60 s after the last use of debug; debug without arguments lists them.\n\nNote: no thread or package is named worker now; unwatch: true ends the watch, and watch: "all" covers all threads.',
    );
    await start('worker one');
    const error = await heldIn('worker one');
    expect(await debug({ thread: 'worker one' })).toContain('(APP::PRICE "b")  shop.lisp:5:3');
    expect(await debug({ error, end: true })).toBe(`The thread of error ${error} continues.`);
    await until('the handler', 10_000, async () => (await session.eval('cl-user::*got*')) === ':HANDLED');
  });

  test('that holds the only error has it listed with its frames and its code, once', async () => {
    await start('worker five');
    const list = await until('the list', 10_000, async () => {
      const text = await debug();
      return text.startsWith('Held errors (1):') && text;
    });
    expect(list).toMatch(
      /^Held errors \(1\):\n {2}\d+: COMMON-LISP::TYPE-ERROR in the thread worker five, held until 60 s pass without a use\n\nError: The value NIL is not of type NUMBER\n[\s\S]*\n\nFrames:\n[\s\S]*\n {2}4 {2}\(defun price \(name\)\n> 5 {4}\(\+ 0 [^\n]*$/,
    );
    expect(await debug()).toBe(list.split('\n\n')[0]);
    await debug({ error: Number(/(\d+): /.exec(list)?.[1]), end: true });
  });

  test('holds an error that left no frame of the program', async () => {
    await session.eval(
      '(progn (sb-thread:make-thread (lambda () (error "tail")) :name "worker six") (values))',
    );
    const error = await heldIn('worker six');
    expect(await debug({ error })).toMatch(/^Error: tail\nType: COMMON-LISP::SIMPLE-ERROR\n/);
    expect(await debug({ error, end: true })).toBe(`The thread of error ${error} continues.`);
  });

  test('runs a frame of the thread again', async () => {
    await start('worker two');
    const error = await heldIn('worker two');
    const answer = await debug({ error, frame: 1, fix: '(defun price (n) (length n))', retry: true });
    expect(answer).toMatch(/\n\nThe frame returned:\n1$/);
    await until('the value', 10_000, async () => (await session.eval('cl-user::*got*')) === '(:TOTAL 1)');
  });

  test('leaves a thread alone whose frame does not return within the limit', async () => {
    await start('worker three');
    const error = await heldIn('worker three');
    const fix = '(defun price (n) (declare (ignore n)) (loop until cl-user::*got* do (sleep 0.01)) 5)';
    expect(await debug({ error, fix })).toMatch(/^Fixed: PRICE\n/);
    expect(await debug({ error, frame: 1, retry: true, timeout: 0.3 })).toBe(
      "The frame has not returned yet; its thread still runs. To see where, call debug with parameter 'thread'.",
    );
    await until('the frame', 10_000, async () =>
      /^Thread worker three\n[\s\S]*\(APP::PRICE #<not kept>\)\n {2}\d: \(APP::TOTAL /.test(
        await debug({ thread: 'worker three' }),
      ),
    );
    await session.eval('(setf cl-user::*got* t)');
    // The thread sets the variable once more, at its end.
    await until('its end', 10_000, async () => (await session.eval('cl-user::*got*')) === '(:TOTAL 5)');
  });

  test('says of an error whose thread left it that it did', async () => {
    await start('worker four');
    const error = await heldIn('worker four');
    await session.eval(
      '(sb-thread:terminate-thread (find "worker four" (sb-thread:list-all-threads) :key (function sb-thread:thread-name) :test (function equal)))',
    );
    await until('the end of the thread', 10_000, async () =>
      (await debug()).startsWith('This session holds no error.'),
    );
    expect(await debug({ error })).toBe(
      `Error ${error} is not held: its thread was ended, or left it. This session holds no error.`,
    );
  });

  test('has a form that leaves the error answered that the thread goes on', async () => {
    await session.eval(
      '(progn (setf cl-user::*got* nil) (sb-thread:make-thread (lambda () (setf cl-user::*got* (list :left (catch :out (app::total (list "b")))))) :name "worker five") 1)',
    );
    const error = await heldIn('worker five');
    expect(await debug({ error, eval: '(throw :out 3)' })).toBe(`The thread of error ${error} continues.`);
    await until('the value', 10_000, async () => (await session.eval('cl-user::*got*')) === '(:LEFT 3)');
  });

  test('records what is handled, and ends', async () => {
    expect(await session.text('get_last_error', { watched: true })).toMatch(
      /^Signalled \d+ s ago in the thread worker five: The value NIL is not of type NUMBER\nType: COMMON-LISP::TYPE-ERROR\n\nFrames:/,
    );
    expect(await debug({ unwatch: true })).toBe(
      'Errors are no longer recorded; 7 were seen by the watch. Held errors stay held.',
    );
    expect(await session.eval('*break-on-signals*')).toBe('NIL');
  });
});

test('a watch has what a form handles, and leaves out what the backend itself does', async () => {
  await debug({ watch: 'all' });
  // SBCL tells of the failed LOAD-TIME-VALUE by a condition that wraps none: its cause stands first. A system that comes
  // with SBCL has no file.
  await session.call('eval_form', { form: '(ignore-errors (load-time-value (error "program\'s")))' });
  await session.call('run_tests', { system: 'sb-rt' });
  const watched = await session.text('get_last_error', { watched: true });
  expect(watched).toMatch(/^Signalled \d+ s ago in the thread live-lisp evaluate: program's\nType: /);
  expect(watched).toMatch(
    /\n\nOther recorded errors .*\n {2}1: \d+ s ago, SB-INT::COMPILED-PROGRAM-ERROR in [^\n]*$/,
  );
  await debug({ watch: 'all' });
  await session.eval('(ignore-errors (error "No."))');
  expect(await session.text('get_last_error', { watched: true })).toMatch(
    /^Signalled \d+ s ago in the thread live-lisp evaluate: No\.\nType: COMMON-LISP::SIMPLE-ERROR$/,
  );
  expect(await debug({ unwatch: true })).toBe(
    'Errors are no longer recorded; 1 was seen by the watch. Held errors stay held.',
  );
});

test('a watch shows the error that a form was compiled with before the one that says so', async () => {
  await session.eval(
    `(define-condition cl-user::bad-pattern (simple-error) ((cl-user::at :initarg :at)))
     (define-compiler-macro cl-user::scan (&whole form pattern text)
       (if (stringp pattern) (list 'cl-user::scan-with (list 'load-time-value (list 'cl-user::pattern pattern)) text) form))
     (defun cl-user::pattern (text) (error 'cl-user::bad-pattern :at 2 :format-control "~S is open." :format-arguments (list text)))
     (defun cl-user::scan-with (pattern text) (search pattern text))
     (defun cl-user::scan (pattern text) (cl-user::scan-with (cl-user::pattern pattern) text))`,
  );
  expect(await debug({ watch: 'all', type: 'error' })).toBe(
    'Conditions of type COMMON-LISP::ERROR in all threads are recorded.',
  );
  await session.eval('(ignore-errors (cl-user::scan "a(b" "x"))');
  expect(await session.text('get_last_error', { watched: true })).toMatch(
    /^Signalled \d+ s ago in the thread live-lisp evaluate: #<COMMON-LISP-USER::BAD-PATTERN FORMAT-CONTROL "~S is open." FORMAT-ARGUMENTS \("a\(b"\) AT 2>\n[\s\S]*\n {2}1: \d+ s ago, SB-INT::COMPILED-PROGRAM-ERROR in [^\n]*$/,
  );
  // An error that is no cause of it stays where it is.
  await session.eval(
    '(progn (ignore-errors (error "before")) (ignore-errors (funcall (compile nil (quote (lambda () (let ((1 2)) 3)))))))',
  );
  expect(await session.text('get_last_error', { watched: true })).toMatch(
    /: Execution of a form compiled with errors\.\n[\s\S]*\n {2}\d: \d+ s ago, COMMON-LISP::SIMPLE-ERROR in /,
  );
  await debug({ unwatch: true });
});

test('a thread that waits for a lock says whose', async () => {
  await session.eval(
    '(defvar cl-user::*lock* (sb-thread:make-mutex :name "till")) (sb-thread:make-thread (lambda () (sb-thread:with-mutex (cl-user::*lock*) (sleep 60))) :name "owner") (loop until (sb-thread:mutex-owner cl-user::*lock*) do (sleep 0.01)) (sb-thread:make-thread (lambda () (sb-thread:with-mutex (cl-user::*lock*) 1)) :name "waiter")',
  );
  await until('the wait', 10_000, async () =>
    (await debug({ thread: 'waiter' })).startsWith(
      'Thread waiter waits for the lock "till", which the thread owner has',
    ),
  );
  expect(await debug({ thread: 'nobody' })).toMatch(/^There is no thread nobody\. Threads:\n {2}main thread/);
  await session.eval(
    '(dolist (thread (sb-thread:list-all-threads)) (when (member (sb-thread:thread-name thread) (list "owner" "waiter") :test (function equal)) (sb-thread:terminate-thread thread)))',
  );
});

test('a watch of nothing is refused', async () => {
  expect(await debug({ watch: '' })).toBe(
    `Parameter 'watch' is empty, so nothing was done. Give the name of a thread or package, or "all"; unwatch: true ends a watch.`,
  );
});
