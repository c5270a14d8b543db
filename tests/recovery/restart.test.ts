// restart_image: a human is asked and shown what is at stake, code is refused, and what is built again is chosen.

import type { ElicitRequestFormParams } from '@modelcontextprotocol/client';
import { afterAll, expect, test } from 'vitest';
import { temporaryFolder } from '../harness.ts';
import { withoutFile } from '../said.ts';
import { until } from '../server/processes.ts';
import { built, killImage, sessions } from './losses.ts';

const start = sessions();
const ALLOWED = ['--allow', 'restart_image'];
const folder = temporaryFolder();
afterAll(folder.remove);

const RESTARTED = 'This is a new Lisp image; the one before was lost: restart_image ended it.';

test('definitions are built again, values are gone, and the current call tells', async () => {
  const session = await start();
  await session.eval('(defvar *x* 1) (setf *x* 2)');
  const { text, notices, isError } = await session.call('restart_image');
  expect([text.replace(/\d+\.\d s/, '0.0 s'), notices, isError]).toEqual([
    `${RESTARTED} Rebuilt in 0.0 s: 1 form. Variables have the values that their definitions give.\nNot run again: 1 form in which no definition was seen; it may have set COMMON-LISP-USER::*X*. What only this form created is gone.`,
    [],
    false,
  ]);
  expect(await session.call('eval_form', { form: '*x*' })).toEqual({
    text: '1',
    notices: [],
    isError: false,
  });
});

test('rebuild: none forgets what was there, also for the next loss', async () => {
  const session = await start();
  await session.eval('(defun f () 1)');
  expect(await session.text('restart_image', { rebuild: 'none' })).toBe(
    `${RESTARTED} As requested, nothing was rebuilt; the 1 step of the journal (definitions, loads and the like) was discarded.`,
  );
  await session.eval('(defun g () 1)');
  await killImage(session);
  expect(await session.eval("(list (fboundp 'f) (g))")).toBe('(NIL 1)');
});

test('rebuild: previous also builds what the server before had', async () => {
  const options = { args: ALLOWED, env: { XDG_STATE_HOME: folder.path } };
  const first = await start(options);
  const none = await first.call('restart_image', { rebuild: 'previous' });
  expect(none).toMatchObject({
    text: 'There is no journal of an earlier server in this workspace, so nothing was done.',
    isError: true,
  });
  await first.eval('(defpackage :old (:use :cl)) (in-package :old) (defun f () :old) (defun g () :old)');
  process.kill(first.pid, 'SIGKILL');
  const second = await start(options);
  await until('its end', 60_000, async () => (await second.eval('(+ 1 2)')) === '3');
  expect(await second.eval('(find-package :old)')).toBe('NIL');
  await second.eval('(defun mine () :new)');
  expect(await second.text('restart_image', { rebuild: 'previous' })).toMatch(
    /Rebuilt in \d+\.\d s: 4 forms\./,
  );
  expect(await second.eval('(list (old::f) (cl-user::mine) *package*)', { package: 'CL-USER' })).toBe(
    '(:OLD :NEW #<PACKAGE "COMMON-LISP-USER">)',
  );
  // They are part of this session now, once.
  expect(await second.text('restart_image', { rebuild: 'previous' })).toContain('4 forms.');
  await killImage(second);
  expect(await second.eval('(old::g)', { package: 'CL-USER' })).toBe(':OLD');
});

test('without a journal there is nothing to build from', async () => {
  const session = await start({ args: [...ALLOWED, '--replay', 'off'] });
  await session.eval('(defun f () 1)');
  expect(await session.call('restart_image', { rebuild: 'previous' })).toEqual({
    text: 'There are no journals, because the server was started with --replay off. Nothing was done.',
    notices: [],
    isError: true,
  });
  expect(await session.text('restart_image')).toBe(
    `${RESTARTED} Lost with it: everything that 1 evaluation made (definitions, values, packages, the current package). Load or define again what you need.`,
  );
});

test('running calls of others are ended, and told', async () => {
  const session = await start();
  await session.eval('(defvar *busy* nil)');
  const busy = session.call('eval_form', { form: '(progn (setf *busy* t) (loop))' });
  await until('it runs', 60_000, async () => (await session.eval('*busy*')) === 'T');
  await session.call('restart_image');
  expect(await busy).toEqual({
    text: 'Error: The Lisp image was lost during this call: restart_image ended it. The next call gets a new image.',
    notices: [],
    isError: true,
  });
});

test('restarts at once and in a row are each answered with what came of them', async () => {
  const session = await start();
  await session.eval('(defun f () 1)');
  const atOnce = await Promise.all([1, 2, 3].map(() => session.text('restart_image')));
  const inRow: string[] = [];
  for (const _ of [1, 2]) inRow.push(await session.text('restart_image'));
  const short = [...atOnce, ...inRow].map((text) => text.replace(/\d+\.\d s/, '0.0 s'));
  expect(short).toEqual(Array.from({ length: 5 }, () => `${RESTARTED} ${built('1 form')}`));
  expect(await session.eval('(f)')).toBe('1');
});

test('C20 a human is asked before the journal is forgotten, and shown what is at stake', async () => {
  const questions: ElicitRequestFormParams[] = [];
  const session = await start({
    onQuestion: (question) => {
      questions.push(question);
      return { action: 'accept', content: { decision: 'deny' } };
    },
  });
  await session.eval('(defvar *x* 1) (setf *x* 2)');
  expect(await session.text('restart_image', { rebuild: 'none' })).toBe('Tool execution denied by user');
  expect(withoutFile(String(questions[0]?.message))).toBe(
    [
      'Approve restart_image (dangerous)? all values, threads, open files and',
      '\u2026 connections of the image are lost',
      'Not rebuilt, and forgotten: what this session defined and loaded (1 step of',
      '\u2026 its journal).',
      'The Lisp image is ended and a fresh one started.',
      'Variables that were set (1): COMMON-LISP-USER::*X*.',
      'All of it: FILE',
    ].join('\n'),
  );
  expect(await session.eval('*x*')).toBe('2');
});

test('C7 C20 code cannot call it, and nobody to ask is a refusal', async () => {
  const allowed = await start();
  expect(await allowed.eval('(live-lisp:call-tool :restart-image)')).toMatch(
    /^Error: Tool restart_image failed: Tool restart_image cannot be called from code in the image, because it ends that image\. Nothing was done\. Call restart_image directly\.\n/,
  );
  // The one that tests share may restart its image.
  const session = await start({});
  expect((await session.call('restart_image', { rebuild: 'none' })).text).toBe(
    "Tool restart_image is dangerous and needs a human's approval, and here nobody can be asked. Nothing was done. A person can allow it when they start the server: --allow restart_image",
  );
});

test('where the image is built again nobody is asked, as nobody is before (exit); without a journal somebody is', async () => {
  const session = await start({ onQuestion: () => ({ action: 'accept', content: { decision: 'deny' } }) });
  expect(await session.text('restart_image')).toMatch(/^This is a new Lisp image/);
  const other = await start({
    args: ['--replay', 'off'],
    onQuestion: () => ({ action: 'accept', content: { decision: 'deny' } }),
  });
  expect(await other.text('restart_image')).toBe('Tool execution denied by user');
});
