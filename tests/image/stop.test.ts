// (live-lisp:stop) takes the backend out of an image, which goes on as a plain SBCL.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { testSbcl } from '../harness.ts';
import { until } from '../server/processes.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

const folder = sharedFolder();
const root = realpathSync(folder.path);
const session = sharedSession({ args: ['--root', root, '--no-sandbox'], cwd: root });
beforeAll(async () => {
  await session.eval('(defun kept () :kept)');
});

/** A form that writes to FILE what a program finds of a backend. */
function reporting(file: string): string {
  return `(with-open-file (out "${file}" :direction :output)
    (with-standard-io-syntax
      (let ((*print-readably* nil))
        (format out "~{~S~%~}"
          (list (list #'load #'compile #'compile-file #'make-package #'export #'sb-ext:exit #'sb-thread:make-thread
                      #'ensure-generic-function #'add-method #'stream-external-format #'(setf fdefinition))
                (mapcar #'sb-introspect:function-lambda-list '(load sb-thread:make-thread add-method))
                sb-ext:*after-gc-hooks* sb-ext:*exit-hooks* sb-ext:*init-hooks* sb-ext:*save-hooks*
                (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*)
                *compile-verbose* sb-ext:*exit-timeout* sb-ext:*evaluator-mode*
                (type-of sb-sys:*stdout*) (sb-sys:fd-stream-fd sb-sys:*stdout*) (sb-sys:fd-stream-fd sb-sys:*stderr*)
                (floor (sb-ext:bytes-consed-between-gcs) 1000000)
                (mapcar #'sb-thread:thread-name
                        (remove-if #'sb-thread::thread-ephemeral-p
                                   (remove sb-thread:*current-thread* (sb-thread:list-all-threads)))))))))`;
}

const HOW =
  '(live-lisp:stop) disconnected live-lisp from it; that image runs on until its program or this server ends';

test('the call is told so, goes on in an image like a plain one, and the next image is built as it was', async () => {
  const [ours, plain] = [join(root, 'ours.txt'), join(root, 'plain.txt')];
  const { text, isError } = await session.call('eval_form', {
    form: `(progn (princ "before") (live-lisp:stop) (princ "after") ${reporting(`${ours}~`)} (rename-file "${ours}~" "${ours}"))`,
    main_thread: true,
  });
  expect({ text, isError }).toEqual({
    text: `Error: The Lisp image was lost during this call: ${HOW}. The next call gets a new image.\n\nOutput:\nbefore`,
    isError: true,
  });
  await until('what it tells', 60_000, () => existsSync(ours));
  // Three times the heap, as in ours.
  const options = ['--dynamic-space-size', '12288MB', '--noinform', '--no-sysinit', '--no-userinit'];
  const forms = ['(require :sb-introspect)', reporting(plain), '(sb-ext:exit :abort t)'];
  spawnSync(testSbcl(), [...options, ...forms.flatMap((form) => ['--eval', form])]);
  expect(readFileSync(ours, 'utf8').replace(/\{[0-9A-F]+\}/g, '{}')).toBe(
    readFileSync(plain, 'utf8').replace(/\{[0-9A-F]+\}/g, '{}'),
  );
  const next = await session.call('eval_form', { form: '(kept)' });
  expect(next.text).toBe(':KEPT');
  expect(next.notices.join('\n')).toMatch(
    `This is a new Lisp image; the one before was lost: ${HOW}. Rebuilt`,
  );
});

test('other calls are ended by it, and the threads of the program go on', async () => {
  const file = join(root, 'thread.txt');
  const began = join(root, 'began');
  const other = session.call('eval_form', {
    form: `(progn (with-open-file (out "${began}" :direction :output)) (loop (sleep 0.01)))`,
  });
  // One that had not begun would be made in the next image.
  await until('its start', 60_000, () => existsSync(began));
  await session.eval(`(sb-thread:make-thread (lambda ()
    (loop until (probe-file "${file}~") do (sleep 0.01))
    (rename-file "${file}~" "${file}")))`);
  await session.call('eval_form', { form: '(live-lisp:stop)' });
  expect((await other).text).toBe(
    `Error: The Lisp image was lost during this call: ${HOW}. The next call gets a new image.`,
  );
  await session.eval(`(with-open-file (out "${file}~" :direction :output))`);
  await until('what the thread does', 60_000, () => existsSync(file));
});

test('an error in a thread that was made before reaches the hook that the program has set since', async () => {
  const file = join(root, 'hook.txt');
  await session.eval(`(sb-thread:make-thread (lambda ()
    (loop until (probe-file "${file}~") do (sleep 0.01))
    (error "Unhandled.")))`);
  const hook = `(lambda (condition hook)
    (with-open-file (out "${file}" :direction :output) (format out "~A ~A" condition hook))
    (sb-thread:abort-thread))`;
  await session.call('eval_form', {
    form: `(progn (live-lisp:stop)
      (setf (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*) ${hook})
      (with-open-file (out "${file}~" :direction :output)))`,
  });
  await until(
    'the hook',
    60_000,
    () => existsSync(file) && /^Unhandled\. #<FUNCTION .*>$/.test(readFileSync(file, 'utf8')),
  );
});

test('a core can be saved then, which has what was defined and no backend', async () => {
  await session.eval('(kept)');
  const core = join(root, 'saved.core');
  await session.call('eval_form', {
    form: `(progn (live-lisp:stop) (sb-ext:save-lisp-and-die "${core}"))`,
    main_thread: true,
  });
  const form =
    '(progn (print (list (kept) (list-length (sb-thread:list-all-threads)) sb-ext:*exit-hooks*)) (sb-ext:exit))';
  const said = await until('the core', 60_000, () => {
    const { stdout } = spawnSync(testSbcl(), ['--core', core, '--noinform', '--no-userinit', '--eval', form]);
    return String(stdout).includes('KEPT') && String(stdout);
  });
  expect(said).toMatch(/\(:KEPT \d NIL\)/);
});
