// What ended well because it went on from errors by restarts is built again by the same restarts.

import { afterAll, expect, test } from 'vitest';
import { temporaryFolder } from '../harness.ts';
import { afterLoss, built, killImage, reported, sessions } from './losses.ts';

const start = sessions();
const folder = temporaryFolder();
afterAll(folder.remove);

test('forms, with restarts that were chosen before and by debug', async () => {
  const session = await start();
  await session.eval('(defstruct chosen a) (defstruct held a)');
  await session.eval('(defstruct chosen a b)', { restarts: ['continue'] });
  await session.call('eval_form', { form: '(defstruct held a b)', on_error: 'hold' });
  await session.call('debug', { error: 1, restart: 'continue' });
  await session.eval('(defconstant +k+ 7)');
  await session.eval('(defconstant +k+ 8)', { restarts: ['continue'] });
  await killImage(session);
  expect(
    await afterLoss(session, '(list (chosen-b (make-chosen :b 2)) (held-b (make-held :b 3)) +k+)'),
  ).toEqual({
    text: '(2 3 8)',
    reported: reported(built('6 forms')),
  });
});

test('a file and a system', async () => {
  const session = await start({ args: ['--root', folder.path] });
  const put = (name: string, text: string) => folder.put(name, text);
  put('sys.asd', '(asdf:defsystem "sys" :components ((:file "one")))\n');
  for (const slots of ['a', 'a b']) {
    put('shape.lisp', `(defstruct shape ${slots})\n(defun behind () ${slots.length})\n`);
    put('one.lisp', `(defstruct one ${slots})\n`);
    await session.call('load_file', { path: 'shape.lisp', restarts: ['continue'] });
    await session.call('load_system', { system: 'sys', restarts: ['continue'] });
  }
  await killImage(session);
  const { text, reported: notice } = await afterLoss(
    session,
    '(list (shape-b (make-shape :b 2)) (behind) (one-b (make-one :b 3)))',
  );
  expect([text, notice]).toEqual(['(2 3 3)', expect.not.stringContaining('Not rebuilt')]);
});
