// Who is asked when a command needs an approval: the client of the session, if it can ask.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whenIdle } from '../../src/door/idle.ts';
import { startSession, type Session as TestSession, temporaryFolder } from '../harness.ts';
import { until } from '../server/processes.ts';
import { sharedFolder } from '../shared.ts';
import { Shell } from './shell.ts';

/** Runs `edit` beside a client that answers a question by DECISION, after FIRST was done in that client. Resolves with
 *  what the command printed, the questions, the choices of each, and the file. */
async function editInOtherSession(
  decision: string,
  first: (session: TestSession) => Promise<unknown> = (session) => session.eval('1'),
) {
  const folder = temporaryFolder();
  const shell = new Shell(folder.path);
  const file = join(shell.workspace, 'shop.lisp');
  writeFileSync(file, '(defun price (x) x)\n');
  const questions: string[] = [];
  const choices: unknown[] = [];
  const session = await startSession({
    args: ['--root', shell.workspace],
    env: { LIVE_LISP_SERVING: shell.serving },
    onQuestion: ({ message, requestedSchema }) => {
      questions.push(message);
      const { enum: offered = [] } = Object(requestedSchema).properties.decision as { enum?: string[] };
      choices.push(offered);
      return { action: 'accept', content: { decision: offered.includes(decision) ? decision : 'approve' } };
    },
  });
  try {
    await first(session);
    await until('the session', 30_000, async () => (await shell.sessions()).length === 1);
    const ran = await shell.run(['edit', 'shop.lisp'], { input: '(defun price (x) (* 2 x))\n' });
    return { ran, questions, choices, text: readFileSync(file, 'utf8') };
  } finally {
    await session.close();
    folder.remove();
  }
}

test('the person at the client denies', async () => {
  const { ran, text } = await editInOtherSession('deny');
  expect(ran.code).toBe(1);
  expect(ran.stdout).toBe('Tool execution denied by user\n');
  expect(text).toBe('(defun price (x) x)\n');
});

test('the person at the client is asked again for a command that does what was approved for the session', async () => {
  const edit = { path: 'shop.lisp', op: 'replace', text: '(defun price (x) (+ x 0))' };
  const { ran, questions, choices, text } = await editInOtherSession(
    'approve for this session',
    async (session) => {
      for (const text of [edit.text, '(defun price (x) (+ 0 x))'])
        await session.call('edit_definitions', { edits: [{ ...edit, text }] });
    },
  );
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(questions[1]).toMatch(/edit_definitions(?:.|\n)*shop\.lisp/);
  expect(choices).toEqual([
    ['approve', 'approve for this session', 'deny'],
    ['approve', 'deny'],
  ]);
  expect(text).toBe('(defun price (x) (* 2 x))\n');
});

test('a client that ends while a command waits for its human approves nothing', async () => {
  const folder = temporaryFolder();
  const shell = new Shell(folder.path);
  const file = folder.put('ws/shop.lisp', '(defun price (x) x)\n');
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const session = await startSession({
    args: ['--root', shell.workspace],
    env: { LIVE_LISP_SERVING: shell.serving },
    onQuestion: () => {
      asked();
      return new Promise(() => {});
    },
  });
  try {
    await session.eval('1');
    await until('the session', 30_000, async () => (await shell.sessions()).length === 1);
    const running = shell.run(['edit', 'shop.lisp'], { input: '(defun price (x) (* 2 x))' });
    await isAsked;
    await session.close();
    // The question or the session ends first.
    expect([
      {
        code: 3,
        stdout:
          "Tool edit_definitions is dangerous and needs a human's approval. Nobody answered the question, so nothing was done. A person can approve it: run this command in a terminal, or watch the session in Emacs or in a browser (live-lisp page).\n",
        stderr: '',
      },
      {
        code: 4,
        stdout: '',
        stderr: 'live-lisp: The session ended before it answered. The next command starts a new one.\n',
      },
    ]).toContainEqual(await running);
    expect(readFileSync(file, 'utf8')).toBe('(defun price (x) x)\n');
  } finally {
    await session.close();
    folder.remove();
  }
});

test('a session of commands ends some time after its last connection, not during one', async () => {
  let ends = 0;
  const connected = whenIdle(60, () => {
    ends++;
  });
  const [first, second] = [connected(), connected()];
  await delay(120);
  first();
  await delay(120);
  expect(ends).toBe(0);
  second();
  await until('the end', 5000, async () => ends === 1);
});

describe('at a terminal', () => {
  const folder = sharedFolder();
  const shell = new Shell(folder.path);
  beforeAll(() => shell.session());
  afterAll(() => shell.end());

  /** Runs an edit in a terminal, in which KEYS are typed. Resolves with what it showed last, and the file. */
  async function editInTerminal(keys: readonly [shown: string, typed: string][]) {
    const file = join(shell.workspace, 'shop.lisp');
    writeFileSync(file, before);
    const edits = [{ path: file, op: 'replace', text: '(defun price (x) (* 2 x))' }];
    const { code, shown } = await shell.terminal(
      ['call', 'edit_definitions', JSON.stringify({ edits })],
      keys,
    );
    const lines = shown.trimEnd().split('\r\n');
    return { code, lines, last: lines.at(-1), text: readFileSync(file, 'utf8') };
  }

  const before = '(defun price (x) x)\n';
  const after = '(defun price (x) (* 2 x))\n';

  test('the person approves by the number of the choice, or by its words', async () => {
    expect(await editInTerminal([['Number: ', '1\r']])).toMatchObject({ code: 0, text: after });
    expect(await editInTerminal([['Number: ', 'approve\r']])).toMatchObject({ code: 0, text: after });
  });

  test('what is neither approves nothing, and is named', async () => {
    const wrong = await editInTerminal([['Number: ', 'yes\r']]);
    expect(wrong).toMatchObject({ code: 3, text: before });
    expect(wrong.lines).toContain(
      'live-lisp: yes is not one of the answers. Run the command again, and enter a number from 1 to 2, or the words beside it.',
    );
  });

  test('what was typed before the question was shown does not answer it', async () => {
    const keys: [string, string][] = [
      ['', '1\r1\r1\r1'],
      ['Number: ', '2\r'],
    ];
    const denied = await editInTerminal(keys);
    expect(denied).toMatchObject({ code: 1, text: before });
    expect(denied.last).toMatch(/^live-lisp: Nothing was done\.\s*$/);
  });

  test('Ctrl-C and Ctrl-D approve nothing', async () => {
    const interrupted = await editInTerminal([['Number: ', '\u0003']]);
    expect(interrupted).toMatchObject({ code: 5, text: before });
    expect(interrupted.last).toMatch(/live-lisp: Interrupted\. Nothing was done\.$/);
    const ended = await editInTerminal([['Number: ', '\u0004']]);
    expect(ended).toMatchObject({ code: 3, text: before });
    expect(ended.last).toContain(
      "Tool edit_definitions is dangerous and needs a human's approval. Nobody answered the question, so nothing was done. A person can approve it: run this command in a terminal, or watch the session in Emacs or in a browser (live-lisp page).",
    );
  });
});
