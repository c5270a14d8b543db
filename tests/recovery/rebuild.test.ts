// A rebuild that fails, hangs or ends the image again: it is bounded, skips what fails, and never does so twice.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Session, temporaryFolder } from '../harness.ts';
import { within } from '../load.ts';
import { imageOf, imagesOf, killChild, until } from '../server/processes.ts';
import { afterLoss, built, killImage, reported, sessions } from './losses.ts';

const start = sessions();
const folder = temporaryFolder();
afterAll(folder.remove);
const mark = join(folder.path, 'mark');

/** Resolves with the process of an image of SESSION that is not BEFORE. */
function another(session: Session, before: number): Promise<number> {
  return until('another image', 60_000, () => imagesOf(session.pid).find((pid) => pid !== before));
}

test('what fails is skipped and told, and the rest is built', async () => {
  const session = await start();
  writeFileSync(mark, '');
  await session.eval(`(defvar *content* (with-open-file (s "${mark}") (file-length s)))`);
  await session.eval('(defun f () 1)');
  rmSync(mark);
  await killImage(session);
  const { text, reported: notice } = await afterLoss(session, '(list (f) (boundp (quote *content*)))');
  expect(text).toBe('(1 NIL)');
  expect(notice).toContain(`${built('1 form')}\nNot rebuilt (1):\n  (defvar *content* (with-open-file (s "`);
  expect(notice).toMatch(/No such file or directory/);
});

test('more than a few failures are counted', async () => {
  const session = await start();
  await session.eval('(defpackage :p (:use :cl)) (defvar *list* nil)');
  for (let n = 0; n < 8; n++) {
    await session.eval(`(defvar *v${n}* (if (probe-file "${mark}") (error "No.") ${n}))`);
  }
  writeFileSync(mark, '');
  await killImage(session);
  const { reported: notice } = await afterLoss(session, '1');
  rmSync(mark);
  expect(notice).toContain('Not rebuilt (8):\n  (defvar *v0* ');
  expect(notice.match(/^ {2}\(defvar .*: No\.$/gm)).toHaveLength(5);
  expect(notice).toContain('\n  ... and 3 more');
});

test('an image that a signal stops while it starts is let go on', async () => {
  const session = await start();
  await session.eval('(defun f () 1)');
  const before = await imageOf(session.pid);
  process.kill(before, 'SIGKILL');
  const next = await another(session, before);
  process.kill(next, 'SIGSTOP');
  expect(await within(10_000, () => session.eval('(f)'))).toBe('1');
  expect(imagesOf(session.pid)).toEqual([next]);
});

test('image_status tells how far the lost image is built again', async () => {
  const session = await start();
  await session.eval(`(defvar *slow* (loop while (probe-file "${mark}") do (sleep 0.01)))`);
  writeFileSync(mark, '');
  await killImage(session);
  const building =
    'A new Lisp image is starting; the previous one was lost: it was ended by SIGKILL. It is rebuilding the lost image: 0 of 1. Calls wait for it.\n';
  await until('the rebuild', 60_000, async () => (await session.text('image_status')).includes(building));
  rmSync(mark);
  await session.eval('1');
});

test('a form that ends the image is dropped from the next rebuild, and told', async () => {
  const session = await start();
  await session.eval('(defun before-it () 1)');
  await session.eval(`(defvar *deadly* (if (probe-file "${mark}") (sb-ext:exit :abort t :code 9) 1))`);
  await session.eval('(defun behind-it () 2)');
  writeFileSync(mark, '');
  await killImage(session);
  const { text, reported: notice } = await afterLoss(session, '(list (before-it) (behind-it))');
  rmSync(mark);
  expect(text).toBe('(1 2)');
  expect(notice).toContain('it was ended by SIGKILL; then it exited with code 9. Rebuilt in 0.0 s: 2 forms.');
  expect(notice).toMatch(
    /Not rebuilt \(1\):\n {2}\(defvar \*deadly\* .*: the new image was lost at this step \(it exited with code 9\); it is left out from now on/,
  );
  await killImage(session);
  expect((await afterLoss(session, '(behind-it)')).reported).toBe(
    reported(
      built('2 forms'),
      'Not run again: 1 form in which no definition was seen. What only this form created is gone.',
    ),
  );
});

test('several that end the image: after three it is started without', async () => {
  const session = await start();
  await session.eval('(defun harmless () 1)');
  for (let n = 0; n < 4; n++) {
    await session.eval(`(defvar *deadly-${n}* (if (probe-file "${mark}") (sb-ext:exit :abort t) 1))`);
  }
  writeFileSync(mark, '');
  await killImage(session);
  const { text, reported: notice } = await afterLoss(session, "(fboundp 'harmless)");
  rmSync(mark);
  expect(text).toBe('NIL');
  expect(notice).toContain(
    'The state of the lost image was not rebuilt: each attempt ended the new image. restart_image tries once more, without the steps that ended it.\nNot rebuilt (3):',
  );
  await killImage(session);
  expect((await afterLoss(session, '(list (harmless) *deadly-3*)')).text).toBe('(1 1)');
});

test('a form that hangs is interrupted at its limit, while the call is told how far it is', async () => {
  const session = await start({ waits: { image: { rebuiltForm: 3000, progress: 100 } } });
  await session.eval('(defun before-it () 1)');
  await session.eval(`(defvar *slow* (loop while (probe-file "${mark}") do (sleep 0.1)))`);
  await session.eval('(defun behind-it () 2)');
  writeFileSync(mark, '');
  await killImage(session);
  const messages: string[] = [];
  const { content } = await session.client.callTool(
    { name: 'eval_form', arguments: { form: '(list (before-it) (behind-it))' } },
    { timeout: 60_000, onprogress: ({ message = '' }) => messages.push(message) },
  );
  rmSync(mark);
  const [text, notice] = (content as { text: string }[]).map((each) => each.text);
  expect(text).toBe('(1 2)');
  expect(messages).toContainEqual(expect.stringMatching(/^\d+\.\d s, rebuilding the lost image: 1 of 3$/));
  expect(notice).toMatch(
    /\(defvar \*slow\* .*: it was interrupted after \d+\.\d s \(timeout\); it is left out from now on/,
  );
});

test('a file that hangs is left out once it had its own time, and what comes after it is built', async () => {
  const session = await start({ args: ['--root', folder.path], waits: { image: { rebuiltForm: 3000 } } });
  const file = join(folder.path, 'serves.lisp');
  writeFileSync(file, '(defun handle () 1)\n(loop (sleep 0.1))\n');
  await session.call('load_file', { path: 'serves.lisp', timeout: 3 });
  await session.eval('(defun behind-it () 2)');
  await killImage(session);
  const { text, reported: notice } = await afterLoss(session, '(list (handle) (behind-it))');
  expect(text).toBe('(1 2)');
  expect(notice.replace(/after \d+\.\d s/, 'after N s')).toBe(
    reported(
      built(`1 form, 1 file (${file})`),
      'Not rebuilt (1):',
      `  load_file ${file}: it was interrupted after N s (timeout); it is left out from now on`,
    ),
  );
  await killImage(session);
  expect((await afterLoss(session, "(list (fboundp 'handle) (behind-it))")).text).toBe('(NIL 2)');
});

test('what comes when the time for all is over is not built, not blamed, and built by the next restart', async () => {
  const session = await start({
    args: ['--allow', 'restart_image'],
    waits: { image: { rebuild: 3000, rebuiltForm: 30_000 } },
  });
  await session.eval(`(defvar *slow* (if (probe-file "${mark}") (sleep 4) 1))`);
  await session.eval(`(defvar *late* (if (probe-file "${mark}") (sleep 5) 2))`);
  writeFileSync(mark, '');
  await killImage(session);
  const { text, reported: notice } = await afterLoss(session, "(list *slow* (boundp '*late*))");
  rmSync(mark);
  expect([text, notice]).toEqual([
    '(NIL NIL)',
    expect.stringContaining(
      '\nThere was no time to run the last 1 step: after 120 s, no further step is started. Call restart_image to try again, or load what you need.',
    ),
  ]);
  await session.call('restart_image');
  expect(await session.eval('(list *slow* *late*)')).toBe('(1 2)');
});

test('an image that is lost before anybody uses it is not built again and again', async () => {
  const session = await start();
  const goOn = join(folder.path, 'go-on');
  await session.eval(
    `(defvar *thread* (sb-thread:make-thread (lambda ()
       (loop until (probe-file "${goOn}") do (sleep 0.01)) (when (probe-file "${mark}") (sb-ext:exit :abort t)))))`,
  );
  writeFileSync(mark, '');
  const before = await imageOf(session.pid);
  await killChild(before);
  await another(session, before);
  await until('the rebuild', 60_000, async () =>
    (await session.text('image_status')).includes(' is ready, '),
  );
  writeFileSync(goOn, '');
  // One is built at once, for its tools; the next waits for somebody who needs it.
  await until('the loss of the one that nobody used', 60_000, async () =>
    (await session.text('image_status')).includes('; then it exited with code 1'),
  );
  expect(imagesOf(session.pid)).toEqual([]);
  rmSync(mark);
  const { text, reported: notice } = await afterLoss(
    session,
    '(sb-thread:thread-name (first (list *thread*)))',
  );
  expect([text, notice]).toEqual(['NIL', expect.stringContaining(built('1 form'))]);
});

test('thousands of forms take seconds, in their order', async () => {
  const session = await start();
  const forms = Array.from(
    { length: 1500 },
    (_, n) => `(defun f${n} () ${n === 0 ? 0 : `(1+ (f${n - 1}))`})`,
  );
  for (let n = 0; n < forms.length; n += 250)
    await session.eval(forms.slice(n, n + 250).join('\n'), { timeout: 60 });
  await killImage(session);
  expect((await within(15_000, () => afterLoss(session, '(f1499)'))).text).toBe('1499');
});

test('killed while it is built: what was being built is dropped, and told', async () => {
  const session = await start();
  await session.eval('(defun first-one () 1)');
  await session.eval(`(defvar *slow* (loop while (probe-file "${mark}") do (sleep 0.01)))`);
  writeFileSync(mark, '');
  await killImage(session);
  const image = await until('the next image', 60_000, () => imagesOf(session.pid)[0]);
  await until('the form that is slow', 60_000, async () =>
    (await session.text('image_status')).includes('1 of 2'),
  );
  await killChild(image);
  const { text, reported: notice } = await afterLoss(session, "(list (first-one) (boundp '*slow*))");
  rmSync(mark);
  expect(text).toBe('(1 NIL)');
  expect(notice).toContain('the new image was lost at this step (it was ended by SIGKILL)');
  expect(existsSync(mark)).toBe(false);
});
