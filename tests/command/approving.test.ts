// Who is asked when a command needs an approval: the client of the session, if it can ask.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSession, temporaryFolder } from '../harness.ts';
import { until } from '../server/processes.ts';
import { Shell } from './shell.ts';

/** Runs `edit` beside a client that answers a question by DECISION. Resolves with what the command printed, the
 *  question, and the file. */
async function editBeside(decision: string) {
  const folder = temporaryFolder();
  const shell = new Shell(folder.path);
  const file = join(shell.workspace, 'shop.lisp');
  writeFileSync(file, '(defun price (x) x)\n');
  const questions: string[] = [];
  const session = await startSession({
    args: ['--root', shell.workspace],
    env: { LIVE_LISP_SERVING: shell.serving },
    onQuestion: ({ message }) => {
      questions.push(message);
      return { action: 'accept', content: { decision } };
    },
  });
  try {
    await session.eval('1');
    await until('the session', 30_000, async () => (await shell.sessions()).length === 1);
    const ran = await shell.run(['edit', 'shop.lisp'], { input: '(defun price (x) (* 2 x))\n' });
    return { ran, questions, text: readFileSync(file, 'utf8') };
  } finally {
    await session.close();
    folder.remove();
  }
}

test('the person at the client approves', async () => {
  const { ran, questions, text } = await editBeside('approve');
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(questions).toEqual([expect.stringMatching(/edit_definitions(?:.|\n)*shop\.lisp/)]);
  expect(text).toBe('(defun price (x) (* 2 x))\n');
});

test('the person at the client denies', async () => {
  const { ran, text } = await editBeside('deny');
  expect(ran.code).toBe(1);
  expect(ran.stdout).toBe('Tool execution denied by user\n');
  expect(text).toBe('(defun price (x) x)\n');
});
