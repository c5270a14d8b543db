// image_status answers at once, whatever the image does.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Session } from '../harness.ts';
import { within } from '../load.ts';
import { imageOf, killChild, until } from '../server/processes.ts';
import { ownFolder, ownSession, sharedSession } from '../shared.ts';

/** Milliseconds in which it must have answered: 100, and what garbage collections add. */
const SOON_MS = 400;

const MEMORY =
  /^Memory: heap \d+ MB of \d+ MB; garbage collections took \d+\.\d s; image \d+ MB resident; server \d+ MB resident( \(heap and collections \d+\.\d s ago\))?$/m;

/** The line of the sandbox, of which later answers have only the beginning. */
const SANDBOX = /^Code in the image is in (?:a|no) sandbox[:,.]/;

/** Returns the status of the image of SESSION, which comes soon. */
async function status(session: Session): Promise<string> {
  const { text, isError } = await within(SOON_MS, () => session.call('image_status'));
  expect(isError).toBe(false);
  expect(text.length).toBeLessThan(2500);
  return text;
}

/** Returns the status of SESSION once it matches PATTERN. */
function statusOnce(session: Session, pattern: RegExp): Promise<string> {
  return until(String(pattern), 10_000, async () => {
    const text = await status(session);
    return pattern.test(text) && text;
  });
}

/** Begins to evaluate FORM, which calls (STARTED), and returns the promise of its text once it has done so. */
async function begin(session: Session, form: string): Promise<{ text: Promise<string> }> {
  await session.eval('(setf *started* nil *go* nil)');
  const text = session.eval(form);
  await until('the call of STARTED', 10_000, async () =>
    (await session.text('describe_symbol', { symbol: '*started*' })).includes('Value: T'),
  );
  return { text };
}

describe('an image that runs', () => {
  const session = sharedSession(
    { args: ['--heap', '1GB'] },
    `(defvar *started* nil)
      (defvar *go* nil)
      (defun started () (setf *started* t))
      (defclass never-printed () ())
      (defmethod print-object ((x never-printed) s) (declare (ignore s)) (loop))
      (defun works (x) (started) (loop (sleep 0.01) (when (eq x :never) (return x))))
      (defpackage :shop (:use :cl))`,
  );
  beforeAll(async () => {});
  afterEach(async () => {
    await session.call('interrupt', { all: true });
    await session.eval('(cl:in-package :cl-user)');
  });

  test('is ready when no call runs', async () => {
    await session.eval('(in-package :shop)');
    // The threads of calls before this end after their answers.
    const text = await statusOnce(session, /^The Lisp image is ready.*\n(?:.*\n)*Threads: 2,/);
    const [state, image, memory, threads, ...rest] = text.split('\n');
    expect(state).toBe('The Lisp image is ready, and no call runs.');
    expect(image).toMatch(/^SBCL \d+\.\d+\S*, pid \d+, up (\d+\.\d s|\d+ min); current package SHOP$/);
    expect(memory).toMatch(MEMORY);
    expect(memory).toContain(' of 1024 MB');
    expect(threads).toBe('Threads: 2, none of the program');
    // What an SBCL lacks is its own matter, and stands before the line of the sandbox.
    const others = rest.filter((line) => line !== '' && !line.startsWith('Less with this SBCL: '));
    expect(others).toEqual([
      'Libraries: no manager (Quicklisp, qlot or ocicl) is set up',
      expect.stringMatching(SANDBOX),
    ]);
  });

  test('tells where a call is, how long it runs and what it wrote, without running code for that', async () => {
    const { text } = await begin(
      session,
      `(progn (format t "One.~%Two.~%") (works (make-instance 'never-printed)))\n;; not the first line`,
    );
    const running = /^ {5}10 characters of output, .*\n( {5}in \(SB-.*\n)* {5}in \(COMMON-LISP-USER::WORKS /m;
    const [head, calls, advice] = (await statusOnce(session, running)).split('\n\n');
    expect(head).toMatch(/^The Lisp image is busy: 1 call runs\.\n/);
    expect(calls).toMatch(
      /^Calls:\n {2}\d+: eval_form \(progn \(format t "One\.~%Two\.~%"\) \(works \(make-instance 'never-printed\)\)\) \(\d+\.\d s\)\n {5}10 characters of output, last line: Two\.\n( {5}in \(SB-.*\n)* {5}in \(COMMON-LISP-USER::WORKS #<COMMON-LISP-USER::NEVER-PRINTED>\)/,
    );
    expect(advice).toBe('interrupt with the number of a call (job) ends it and keeps the image.');
    await session.call('interrupt');
    await text;
  });

  test('leaves a call alone whose stack is nearly full', async () => {
    await session.eval(`(defun deep (n wait) (if (= n 0) (progn (started) (loop until *go* do (sleep wait)) 0) (+ 1 (deep (- n 1) wait))))
      (defun fits (n) (setf *go* t) (handler-case (progn (deep n 0) t) (storage-condition () nil)))
      (defvar *most* (loop with low = 1000 and high = 1000000 while (> (- high low) 1)
        do (let ((half (floor (+ low high) 2))) (if (fits half) (setf low half) (setf high half)))
        finally (return low)))`);
    const { text } = await begin(session, '(= (- *most* 1000) (deep (- *most* 1000) 0.01))');
    expect(await status(session)).not.toContain(' in (');
    await session.eval('(setf *go* t)');
    expect(await text).toBe('T');
    const { text: other } = await begin(session, '(deep 1000 0.01)');
    await statusOnce(session, /^ {5}in \(COMMON-LISP-USER::DEEP 0 0\.01\)$/m);
    await session.eval('(setf *go* t)');
    await other;
  });

  test('names the threads of the program, ten at most', async () => {
    await session.eval(
      '(defvar *threads* (loop for n below 12 collect (sb-thread:make-thread (lambda () (sleep 1000)) :name (format nil "w~A~%" n))))',
    );
    await statusOnce(session, /^Threads: 14, 12 of the program: ("w\d+", ){10}\.\.\.$/m);
    await session.eval(
      '(mapc (function sb-thread:terminate-thread) *threads*) (dolist (thread *threads*) (sb-thread:join-thread thread :default nil))',
    );
  });

  test('answers for a thread that cannot be interrupted, also again', async () => {
    const form = '(sb-sys:without-interrupts (started) (loop until *go* do (sleep 0.01)))';
    const { text } = await begin(session, form);
    for (let times = 0; times < 3; times++) {
      expect(await status(session)).toMatch(
        /\n\nCalls:\n {2}\d+: eval_form \(sb-sys:without-interrupts .*\)\n\ninterrupt with the number of a call \(job\) ends/,
      );
    }
    await session.eval('(setf *go* t)');
    expect(await text).toBe('NIL');
  });

  test('answers while nothing in it runs, and tells for how long', async () => {
    const folder = ownFolder();
    const seenFile = join(folder.path, 'seen');
    const { text } = await begin(
      session,
      `(sb-sys:without-gcing (started) (loop until (probe-file "${seenFile}") do (sleep 0.01)))`,
    );
    const collects = session.eval('(gc)');
    // On a busy machine the first answers say that other processes have the CPU.
    const seen = await statusOnce(session, /it collects garbage[\s\S]*eval_form \(gc\)/);
    expect(seen).toMatch(
      /^The Lisp image has not reacted for \d+\.\d s: it collects garbage, or code in it keeps all threads from running\. If this lasts 6 s without garbage collection, or 16\.0 s in any case, the image is replaced\.\nSBCL \S+, pid \d+, up .*; current package COMMON-LISP-USER\n/,
    );
    expect(seen).toMatch(MEMORY);
    expect(seen).toMatch(/^ {2}\d+: eval_form \(gc\) \(\d+\.\d s\)$/m);
    writeFileSync(seenFile, '');
    expect(await text).toBe('NIL');
    await collects;
  });

  test('answers while its process is stopped, which it is not for long', async () => {
    const pid = Number(/, pid (\d+), /.exec(await status(session))?.[1]);
    const stopped = await until('the stop', 10_000, async () => {
      process.kill(pid, 'SIGSTOP');
      const text = await status(session);
      return text.includes('its process is stopped') && text;
    });
    expect(stopped).toMatch(
      /^The Lisp image has not reacted for \d+\.\d s: its process is stopped, for example by SIGSTOP\. live-lisp resumes it within 2 s\.\n/,
    );
    await statusOnce(session, /^The Lisp image is ready/);
  });

  test('shows which calls wait for a place', async () => {
    const calls = Array.from({ length: 10 }, (_, n) => session.eval(`(list ${n} (works ${n}))`));
    const text = await statusOnce(session, /: 8 calls run, 2 wait\./);
    expect(text).toMatch(/^ {2}\d+: eval_form \(list 8 \(works 8\)\) \(\d+\.\d s, waits for a place\)$/m);
    expect(text).toMatch(
      /^ {2}\d+: eval_form \(list 9 \(works 9\)\) \(\d+\.\d s, waits for a place behind 1 other call\)$/m,
    );
    await session.call('interrupt', { all: true });
    await Promise.all(calls);
  });

  test('tells code the same as data (S2.21)', async () => {
    const form = `(let* ((status (live-lisp:call-tool :image-status))
             (job (first (gethash "jobs" status))) (memory (gethash "memory" status)))
        (list (gethash "state" status) (gethash "package" status) (integerp (gethash "pid" status))
              (gethash "heapSize" memory) (every (lambda (key) (plusp (gethash key memory))) '("heapUsed" "imageRss" "serverRss"))
              (gethash "tool" job) (gethash "state" job) (gethash "characters" job) (gethash "frames" job)
              (gethash "program" (gethash "threads" status))))`;
    expect(await session.eval(`(princ "abc") ${form}`)).toMatch(
      /^\[1\] "abc"\n\[2\] \("busy" "COMMON-LISP-USER" T 1073741824 T "eval_form" "running" 3\s+\("\(LIVE-LISP:CALL-TOOL :IMAGE-STATUS\)"\) 0\)\n/,
    );
  });

  test('shows which call made which', async () => {
    const call = session.eval('(live-lisp:call-tool :eval-form :form "(works 1)")');
    const text = await statusOnce(session, /2 calls run/);
    expect(text).toMatch(/\(\d+\.\d s, called by the code of call (\d+)\)$/m);
    await session.call('interrupt');
    await call;
  });

  test('that was lost: it tells so, starts none, and later what was lost', async () => {
    const session = await ownSession({ args: ['--replay', 'off'] });
    await session.eval('(defvar *lost* 1)');
    const pid = await imageOf(session.pid);
    await killChild(pid);
    const text = await statusOnce(session, /^The Lisp image was lost/);
    expect(text).toMatch(
      /^The Lisp image was lost: it was ended by SIGKILL\. The next call that needs one gets a new one\.\nMemory: server \d+ MB resident\nCode in the image is in .*$/,
    );
    expect(await session.eval("(boundp '*lost*)")).toBe('NIL');
    expect(await status(session)).toMatch(
      /\n\nLast loss: The one before was lost: it was ended by SIGKILL\. Lost with it: everything that 1 evaluation made \(.*\)\. .*$/,
    );
  });

  test('that was lost a moment ago is not called ready, and nothing is told of its process', async () => {
    await session.eval('(defun kept () 1)');
    const pid = await imageOf(session.pid);
    await session.eval('(sb-ext:exit :abort t)');
    expect(await status(session)).not.toContain(`pid ${pid},`);
    expect(await session.eval('(kept)')).toBe('1');
  });

  test('that was lost and built again: it tells what came back', async () => {
    await session.eval('(defun kept () 1)');
    const pid = await imageOf(session.pid);
    await killChild(pid);
    expect(await session.eval('(kept)')).toBe('1');
    expect(await status(session)).toMatch(
      /\n\nLast loss: The one before was lost: it was ended by SIGKILL\. Rebuilt in /,
    );
  });
});

test('an image that starts is told with the start file that it loads, whose load can be interrupted', async () => {
  const folder = ownFolder();
  const init = join(folder.path, 'init.lisp');
  writeFileSync(init, '(sleep 60)\n');
  const session = await ownSession({ args: ['--init', init] });
  await session.client.listTools();
  const text = await statusOnce(session, /^The Lisp image is starting[\s\S]*the start file/);
  expect(text).toMatch(/^The Lisp image is starting; calls wait for it\.\nSBCL(.*), pid \d+, up \d+\.\d s/);
  expect(text).toMatch(new RegExp(`^ {2}1: the start file ${init.slice(0, 40)}.* \\(\\d+\\.\\d s\\)$`, 'm'));
  expect((await session.call('interrupt')).text).toMatch(/^Call 1 \(the start file .*\): Interrupted after /);
  await statusOnce(session, /^The Lisp image is ready/);
});

test('an image that could not be started is told with the reason', async () => {
  const session = await ownSession({ args: ['--sbcl', '/nowhere/sbcl'] });
  await session.call('image_status');
  expect(await statusOnce(session, /last start failed/)).toMatch(
    /^The Lisp image is not started; the next call that needs it starts it\. The last start failed: There is no executable SBCL at \/nowhere\/sbcl\./,
  );
});
