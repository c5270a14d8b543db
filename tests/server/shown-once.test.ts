// What a session was told is told again in few words.

import { expect, test } from 'vitest';
import { sharedFolder, sharedSession } from '../shared.ts';

const root = sharedFolder();
root.put('shop.lisp', '(defun price (x) (declare (optimize debug)) (error "No ~a." x))\n');
const session = sharedSession({ args: ['--root', root.path, '--no-sandbox'] });

test('get_last_error right behind the answer with the error has only what that lacks', async () => {
  await session.call('load_file', { path: 'shop.lisp' });
  const { text } = await session.call('eval_form', { form: '(price 3)' });
  expect(text).toMatch(/^Error: No 3\.\nType: COMMON-LISP::SIMPLE-ERROR\n/);
  expect(await session.text('get_last_error')).toMatch(
    /^Error: the same as in the previous answer\nType: COMMON-LISP::SIMPLE-ERROR\n\nSignalled \S+, \d+ s ago, by an evaluation, in package COMMON-LISP-USER\n\nFrames, with the locals that their code kept:\n {2}0: \(COMMON-LISP-USER::PRICE 3\) {2}shop\.lisp:1:\d+\n {7}X = 3$/,
  );
  await session.eval('1');
  expect(await session.text('get_last_error')).toMatch(
    /^Error: No 3\.\nType: COMMON-LISP::SIMPLE-ERROR\n\nSignalled [^\n]*\n\nForm:\n {2}\(price 3\)\n\nFrames,/,
  );
});

test('debug explains a watch once', async () => {
  const watch = (args: object) => session.text('debug', { watch: 'all', ...args });
  expect(await watch({})).toBe(
    'Errors in all threads are recorded when signalled, even if handled; get_last_error with watched: true shows them.',
  );
  expect(await watch({})).toBe('Errors in all threads are recorded.');
  expect(await watch({ hold: true })).toBe(
    'Errors in all threads are recorded. Each stops its thread until 60 s after the last use of debug; debug without arguments lists them.',
  );
  expect(await watch({ hold: true })).toBe(
    'Errors in all threads are recorded. Each stops its thread until 60 s after the last use of debug.',
  );
});

test('image_status explains libraries and the sandbox once', async () => {
  expect(await session.text('image_status')).toContain(
    'Code in the image runs without a sandbox, so it can do all that you can.',
  );
  const again = await session.text('image_status');
  expect(again).toMatch(/\nCode in the image runs without a sandbox\.$/);
  expect(again).toContain('\nLibraries: no manager\n');
});

test('the headline of a load stands once', async () => {
  root.put('warned.lisp', Array.from({ length: 6 }, (_, n) => `(defun warned-${n} (x${n}) ${n})\n`).join(''));
  const text = await session.text('load_file', { path: 'warned.lisp' });
  expect(text).toMatch(/^Loaded warned\.lisp\n\nWarnings \(6\):\n/);
  expect(text.match(/Loaded warned\.lisp/g)).toHaveLength(1);
});
