// What is kept of calls when the server is killed, or ends.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Session, startSession, temporaryFolder } from '../harness.ts';
import { gone } from './processes.ts';

let folder: ReturnType<typeof temporaryFolder>;
let session: Session;
let state: string;
beforeEach(async () => {
  folder = temporaryFolder();
  state = join(folder.path, 'live-lisp');
  mkdirSync(join(folder.path, 'workspace'));
  session = await startSession({
    args: ['--root', join(folder.path, 'workspace')],
    env: { XDG_STATE_HOME: folder.path },
  });
  await session.eval('(list :first)');
});
afterEach(async () => {
  await session.close();
  folder.remove();
});

const histories = () => join(state, 'repl-history');
const logText = () => readFileSync(join(state, 'audit.jsonl'), 'utf8');
const historyText = () =>
  readdirSync(histories())
    .map((name) => readFileSync(join(histories(), name), 'utf8'))
    .join('');

test('what was answered before a kill is kept, that an image was lost too', async () => {
  await session.call('eval_form', { form: '(sb-ext:exit :code 3 :abort t)' });
  expect(historyText()).toContain(':abort t');
  expect(logText().match(/"success":false/g)).toHaveLength(1);
  await session.eval('(list :third)');
  process.kill(session.pid, 'SIGKILL');
  expect(historyText()).toContain('(list :third)');
  expect(logText().match(/"event":"begin"/g)).toHaveLength(3);
  expect(logText().match(/"success":true/g)).toHaveLength(2);
});

test('an end by SIGINT keeps all', async () => {
  await session.eval('(list :last)');
  const { pid } = session;
  process.kill(pid, 'SIGINT');
  // A client kills a server that takes seconds to end.
  await gone(pid, 60_000);
  expect(historyText()).toContain('(list :last)');
  expect(logText().match(/"event":"end"/g)).toHaveLength(2);
});
