// What is kept of calls when the server is killed, or ends, or can write no more.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

test('what was answered before a kill is kept', async () => {
  await session.eval('(list :second)');
  await session.eval('(list :third)');
  process.kill(session.pid, 'SIGKILL');
  expect(historyText()).toContain('(list :second)');
  expect(historyText()).toContain('(list :third)');
  const lines = logText().split('\n');
  expect(lines.filter((line) => line.includes('"event":"begin"'))).toHaveLength(3);
  expect(logText()).toContain('(list :third)');
  expect(lines.filter((line) => line.includes('"success":true'))).toHaveLength(3);
});

test.each(['SIGTERM', 'SIGINT'] as const)('an end by %s keeps all', async (signal) => {
  await session.eval('(list :last)');
  const { pid } = session;
  process.kill(pid, signal);
  // A client kills a server that takes seconds to end.
  await gone(pid, 60_000);
  expect(historyText()).toContain('(list :last)');
  expect(logText().match(/"event":"end"/g)).toHaveLength(2);
});

test('what is answered of a lost image is kept before', async () => {
  await session.call('eval_form', { form: '(sb-ext:exit :code 3 :abort t)' });
  expect(historyText()).toContain(':abort t');
  expect(logText().match(/"success":false/g)).toHaveLength(1);
});

test('tools see at once what was evaluated', async () => {
  await session.eval('(list :seen)');
  expect(await session.text('get_repl_history')).toContain('(list :seen)');
  expect((await session.text('get_audit_log')).match(/succeeded/g)).toHaveLength(2);
});

test('that evaluations cannot be kept any more is told with the answer', async () => {
  rmSync(histories(), { recursive: true });
  writeFileSync(histories(), 'a file where the folder should be');
  expect(await session.eval('(list :lost)')).toMatch(
    /^\(:LOST\)\n\nNote: evaluations run, but are not kept for get_repl_history any more \(/,
  );
});
