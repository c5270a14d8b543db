// What is told of a loss: what was built again, what was left out, what is gone; and that nothing is done twice.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Session, temporaryFolder } from '../harness.ts';
import { afterLoss, built, evalInterrupted, killImage, reported, sessions } from './losses.ts';

const start = sessions();

/** Evaluates FORM in SESSION, whose error is held, and returns its number. */
async function hold(session: Session, form: string): Promise<number> {
  const { text } = await session.call('eval_form', { form, on_error: 'hold' });
  return Number(/^Held as error (\d+),/m.exec(text)?.[1]);
}

const folder = temporaryFolder();
afterAll(folder.remove);

test('the texts are exact', async () => {
  const session = await start();
  await session.eval('(defvar *x* 1) (defun f () *x*) (setf *x* 2) (f) (push 1 *y*)');
  await session.eval('(defun before-the-error () 1) (error "No.") (defun after () 2)');
  await evalInterrupted(session, '(defun before-the-end () 1) (progn (princ "begun") (loop))');
  await killImage(session);
  expect(
    await afterLoss(session, '(list (f) (before-the-error) (before-the-end) (fboundp (quote after)))'),
  ).toEqual({
    text: '(1 1 1 NIL)',
    reported: reported(
      built('4 forms'),
      'Not run again: 5 forms in which no definition was seen; they may have set COMMON-LISP-USER::*X*. What only these forms created is gone.',
    ),
  });
  await killImage(session);
  expect(await afterLoss(session, '(f)')).toEqual({
    text: '1',
    reported: reported(
      built('4 forms'),
      'Not run again: 1 form in which no definition was seen. What only this form created is gone.',
    ),
  });
});

test('a form that did not end well is not run again, and told when it would build', async () => {
  const session = await start();
  await session.eval('(defun f () 1)');
  await session.eval('(progn (defun half () 1) (error "No."))');
  await evalInterrupted(session, '(progn (defvar *slow* 1) (princ "begun") (loop))');
  await killImage(session);
  expect(await afterLoss(session, "(list (f) (fboundp 'half) (boundp '*slow*))")).toEqual({
    text: '(1 NIL NIL)',
    reported: reported(
      built('1 form'),
      'Forms not run again, because they failed or were interrupted (2):',
      '  (progn (defun half () 1) (error "No."))',
      '  (progn (defvar *slow* 1) (princ "begun") (loop))',
    ),
  });
});

test('a form that the image ends with, or whose error is held then, is told when a part of it has built', async () => {
  const session = await start();
  const ended = '(progn (defun half () 1) (sb-ext:exit :abort t))';
  await session.eval(ended);
  const held = '(let () (defun in-held () 1) (error "No."))';
  await hold(session, held);
  await killImage(session);
  expect(await afterLoss(session, "(list (fboundp 'half) (fboundp 'in-held))")).toEqual({
    text: '(NIL NIL)',
    reported: reported(
      'There was nothing to rebuild.',
      'Forms not run again, because they failed or were interrupted (1):',
      `  ${held}`,
    ),
  });
});

test('one whose held error was let go counts as it ended', async () => {
  const session = await start();
  const error = await hold(session, '(progn (defun whole () 1) (cerror "Go on." "No."))');
  await session.call('debug', { error, restart: 'continue' });
  await killImage(session);
  expect(await afterLoss(session, '(whole)')).toEqual({ text: '1', reported: reported(built('1 form')) });
});

test('a load that the image ends with, or whose error is held then, is told', async () => {
  const session = await start({ args: ['--root', folder.path] });
  folder.put('ends.lisp', '(defun ends () 1)\n(sb-ext:exit :abort t)\n');
  folder.put('errs.lisp', '(defun errs () 1)\n(error "No.")\n');
  await session.call('load_file', { path: 'errs.lisp', on_error: 'hold' });
  await session.call('load_file', { path: 'ends.lisp' });
  const { notices } = await session.call('eval_form', { form: '1' });
  expect(notices.join('\n')).toContain(
    [
      'There was nothing to rebuild.',
      'Forms not run again, because they failed or were interrupted (2):',
      `  load_file ${join(folder.path, 'ends.lisp')}`,
      `  load_file ${join(folder.path, 'errs.lisp')}`,
    ].join('\n'),
  );
});

test('what observe and debug have evaluated is built again', async () => {
  const session = await start();
  await session.call('observe', { form: '(defun seen () 1) (seen)' });
  const error = await hold(session, '(error "No.")');
  await session.call('debug', { error, eval: '(defun apart () 2)' });
  await session.call('debug', { error, end: true });
  await killImage(session);
  expect((await afterLoss(session, '(list (seen) (apart))')).text).toBe('(1 2)');
});

test('what debug evaluated with the variables of a frame is not built again', async () => {
  const session = await start();
  await session.eval('(defun apart () 1)');
  await session.eval('(declaim (optimize (debug 2)))');
  await session.eval('(defun give-up (n) (error "No ~a." n))');
  const error = await hold(session, '(give-up 2)');
  await session.call('debug', { error, eval: '(let ((m n)) (defun apart () m))' });
  await session.call('debug', { error, end: true });
  expect(await session.eval('(apart)')).toBe('2');
  await killImage(session);
  const { text, reported: said } = await afterLoss(session, '(apart)');
  expect(text).toBe('1');
  expect(said).not.toContain('N is unbound');
});

test('a start file that ends every image drops nothing of the journal', async () => {
  const init = join(folder.path, 'init.lisp');
  const deadly = join(folder.path, 'deadly');
  writeFileSync(init, `(when (probe-file "${deadly}") (sb-ext:exit :abort t :code 7))`);
  const session = await start({ args: ['--init', init, '--allow', 'restart_image'] });
  await session.eval('(defun f () 1)');
  writeFileSync(deadly, '');
  await killImage(session);
  expect((await session.call('eval_form', { form: '(f)' })).isError).toBe(true);
  expect((await session.call('restart_image')).text).toBe(
    'The new Lisp image ended at once. Check the start files (--init), which it loads first.',
  );
  rmSync(deadly);
  const { text, reported: notice } = await afterLoss(session, '(f)');
  expect([text, notice]).toEqual(['1', expect.stringContaining(built('1 form'))]);
});

test('nothing is told when nothing was done, and nothing twice', async () => {
  const session = await start();
  await session.text('describe_symbol', { symbol: 'car' });
  await killImage(session);
  expect((await afterLoss(session, '1')).reported).toBe(reported('Nothing was lost with it.'));
  expect((await afterLoss(session, '1')).reported).toBe('');
  await killImage(session);
  expect((await afterLoss(session, '1')).reported).toBe(
    reported(
      'Nothing had been defined.',
      'Not run again: 2 forms in which no definition was seen. What only these forms created is gone.',
    ),
  );
});

test('what changes the Lisp system is left out on purpose', async () => {
  const session = await start();
  await session.eval('(sb-ext:unlock-package :sb-gray)');
  await session.eval('(defun sb-gray::mine () 1)');
  await session.eval('(sb-ext:without-package-locks (defun car-of-mine () 1))');
  await session.eval('(progn (defun kept () 2) (defparameter sb-gray:stream-fresh-line 1))');
  await killImage(session);
  expect(
    await afterLoss(session, "(list (kept) (fboundp 'car-of-mine) (sb-ext:package-locked-p :sb-gray))"),
  ).toEqual({
    text: '(2 NIL T)',
    reported: reported(
      built('1 form'),
      'Left out on purpose, because they changed the Lisp system itself (4):',
      '  (sb-ext:unlock-package :sb-gray)',
      '  (defun sb-gray::mine () 1)',
      '  (sb-ext:without-package-locks (defun car-of-mine () 1))',
      '  (progn (defun kept () 2) (defparameter sb-gray:stream-fresh-line 1))',
    ),
  });
});

test('a deleted package of the system comes back', async () => {
  const session = await start();
  await session.eval('(defun kept () :kept)');
  await session.eval('(progn (delete-package :cl-user) 1)');
  await killImage(session);
  const { text, reported: notice } = await afterLoss(session, '(kept)');
  expect(text).toBe(':KEPT');
  expect(notice).toContain('system itself (1):\n  (progn (delete-package :cl-user) 1)');
});

test('what is built again is suspected while images are lost soon, and left by a restart with nothing', async () => {
  const session = await start({ args: ['--allow', 'restart_image'] });
  await session.eval('(defun harmless () 1)');
  const reportedOf = async (form: string) =>
    (await session.call('eval_form', { form })).notices.filter((text) => text.includes('new Lisp image'));
  const suspected = (count: number) =>
    `\nThe ${count} previous images were also rebuilt, and each was lost soon after. If the rebuilt state is the cause, call restart_image with rebuild: none.`;
  const reported: string[] = [];
  for (const _ of [1, 2, 3, 4, 5]) reported.push(...(await reportedOf('(sb-ext:exit :abort t)')));
  reported.push(...(await reportedOf('(harmless)')));
  expect(reported.map((text) => /\nThe \d previous .*/.exec(text)?.[0] ?? '')).toEqual([
    '',
    '',
    ...[2, 3, 4].map((count) => suspected(count).trimEnd()),
  ]);
  expect(reported.join('\n')).not.toContain('left out');
  await session.call('restart_image', { rebuild: 'none' });
  expect(await session.call('eval_form', { form: "(fboundp 'harmless)" })).toMatchObject({
    text: 'NIL',
    notices: [],
  });
});

test('no side effect happens twice but those of definitions', async () => {
  const session = await start();
  const file =
    '(defun note (what) (with-open-file (s "NAME" :direction :output :if-exists :append :if-does-not-exist :create) (princ what s)))';
  const path = join(folder.path, 'effects');
  await session.eval(file.replace('NAME', path));
  await session.eval('(progn (note 1) (defun a () 1) (note 2))');
  await session.eval('(note 3) (let ((x 1)) (note x)) (setf *print-length* (progn (note 4) 99))');
  await session.eval('(defmacro counted () (note :m) 1) (defun b () (counted))');
  expect(readFileSync(path, 'utf8')).toBe('12314M');
  await killImage(session);
  await afterLoss(session, '1');
  // A setting is set again, and a macro is expanded again.
  expect(readFileSync(path, 'utf8')).toBe('12314M4M');
});
