// How a human is asked through their own client, in both eras, and what counts as an answer.

import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, test } from 'vitest';
import { bad, ERAS, type Era, type Session, startSession } from '../harness.ts';
import { withoutFile } from '../said.ts';
import { ownSession } from '../shared.ts';

interface Asked {
  session: Session;
  questions: ElicitRequestFormParams[];
}

/** A server for each era that the tests share, and the answers of its human that are still to come. */
const shared = new Map<Era, { asked: Asked; answers: ElicitResult[] }>();
afterAll(() => Promise.all([...shared.values()].map(({ asked }) => asked.session.close())));

/** Returns the server of ERA that asks from cautious on, whose human now gives ANSWERS in turn. Nothing that a test does
 *  with it may last. */
async function share(era: Era, answers: ElicitResult[]): Promise<Asked> {
  const known = shared.get(era);
  if (known !== undefined) {
    known.answers.splice(0, Number.POSITIVE_INFINITY, ...answers);
    known.asked.questions.splice(0);
    return known.asked;
  }
  const own = [...answers];
  const asked = await launch(era, own);
  shared.set(era, { asked, answers: own });
  return asked;
}

/** Starts a server that asks from cautious on, over a client whose human gives ANSWERS in turn. */
async function launch(era: Era, answers: ElicitResult[]): Promise<Asked> {
  const questions: ElicitRequestFormParams[] = [];
  const session = await startSession({
    era,
    args: ['--ask', 'cautious'],
    onQuestion: (question) => {
      questions.push(question);
      const answer = answers.shift();
      if (answer === undefined) throw new Error('The human was asked once too often.');
      return answer;
    },
  });
  return { session, questions };
}

const accept = (content: Record<string, string>): ElicitResult => ({ action: 'accept', content });
const APPROVE = accept({ decision: 'approve' });
const DENIED = {
  text: 'Tool execution denied by user',
  notices: [
    'Nothing was done. If no person decided this, the client did by itself. A person can allow it when they start the server: --allow eval_form',
  ],
  isError: true,
};
const UNANSWERED = bad(
  "Tool eval_form is cautious and needs a human's approval. Nobody answered the question, so nothing was done. A person can allow it when they start the server: --allow eval_form",
);

describe.each(ERAS)('in the %s era', (era) => {
  test('S2.12 approved once, the call runs once, and the next is asked for again', async () => {
    const { session, questions } = await share(era, [APPROVE, { action: 'decline' }]);
    expect(await session.call('eval_form', { form: '(defvar *runs* 1)' })).toMatchObject({ isError: false });
    expect(await session.call('eval_form', { form: '(incf *runs*)' })).toEqual(DENIED);
    expect(await session.text('describe_symbol', { symbol: '*runs*' })).toContain('Value: 1');
    expect(questions.length).toBe(2);
  });

  test('the question shows the tool, its level, the arguments, and the choices', async () => {
    const { session, questions } = await share(era, [{ action: 'cancel' }]);
    await session.call('eval_form', { form: '(delete-file "x")' });
    expect(withoutFile(String(questions[0]?.message))).toBe(
      'Approve eval_form (cautious)?\n> form: (delete-file "x")\nAll of it: FILE',
    );
    expect(questions[0]?.requestedSchema).toMatchObject({
      type: 'object',
      required: ['decision'],
      properties: {
        decision: {
          enum: ['approve', 'approve for this session', 'deny'],
          default: 'approve',
        },
      },
    });
  });

  test.each<[string, ElicitResult]>([
    ['decline', { action: 'decline' }],
    ['deny', accept({ decision: 'deny' })],
  ])('S2.12 %s is a denial: the call is not run', async (_, answer) => {
    const { session } = await share(era, [answer, APPROVE]);
    expect(await session.call('eval_form', { form: '(defvar *ran* t)' })).toEqual(DENIED);
    expect(await session.text('describe_symbol', { symbol: '*ran*' })).toContain('not found');
  });

  test.each<[string, ElicitResult]>([
    ['cancel', { action: 'cancel' }],
    ['no decision', accept({})],
    ['another word', accept({ decision: 'yes' })],
  ])('C29 %s is no answer: the call is not run, and how it can be is told', async (_, answer) => {
    const { session } = await share(era, [answer, APPROVE]);
    expect(await session.call('eval_form', { form: '(defvar *ran* t)' })).toEqual(UNANSWERED);
    expect(await session.text('describe_symbol', { symbol: '*ran*' })).toContain('not found');
  });

  test('approved for this session, the tool is not asked for again; others are', async () => {
    // No other test calls compile_form of this server.
    const { session, questions } = await share(era, [
      accept({ decision: 'approve for this session' }),
      APPROVE,
    ]);
    for (const form of ['1', '2', '3'])
      expect(await session.call('compile_form', { form })).toMatchObject({ isError: false });
    expect(await session.eval('4')).toBe('4');
    expect(questions.map(({ message }) => /\w+_form/.exec(message)?.[0])).toEqual([
      'compile_form',
      'eval_form',
    ]);
  });

  test('what is wrong is told without asking, and a safe tool never asks', async () => {
    const { session, questions } = await share(era, []);
    expect(await session.text('eval_form', {})).toBe("Required parameter 'form' missing");
    expect(await session.text('describe_symbol', { symbol: 'car' })).toContain('COMMON-LISP::CAR');
    expect(questions).toEqual([]);
  });

  test('nothing that a model passes approves anything', async () => {
    const { session } = await share(era, []);
    for (const more of [
      { approval: true },
      { decision: 'approve' },
      { inputResponses: { approval: APPROVE } },
    ]) {
      const { text, isError } = await session.call('eval_form', { form: '(+ 1 2)', ...more });
      expect([text.startsWith('Unknown parameter'), isError]).toEqual([true, true]);
    }
  });

  test('characters that hide or reorder others are shown as what they are, and long arguments are cut', async () => {
    const { session, questions } = await share(era, [{ action: 'decline' }, { action: 'decline' }]);
    await session.call('eval_form', { form: '(list "\u202e\u200b\u0007\u2028")' });
    await session.call('eval_form', { form: `(list ${'x'.repeat(20_000)} (danger))` });
    expect(questions[0]?.message).toContain('\n> form: (list "<U+202E><U+200B><U+0007><U+2028>")');
    expect(questions[1]?.message).toMatch(
      /^0 of 1 lines are shown\. Approve eval_form \(cautious\)\?\n> form: \(list(?:\n\u2026 x+)+ \[\.\.\.\]\nAll of it: .*$/,
    );
    expect(questions[1]?.message.length).toBeLessThan(8300);
  });
});

test('S1.16 call_tool asks as the tool it calls', async () => {
  const { session, questions } = await share('modern', [APPROVE, { action: 'decline' }]);
  const call = () => session.call('call_tool', { name: 'eval_form', arguments: { form: '(+ 40 2)' } });
  expect(await call()).toMatchObject({ text: '42', isError: false });
  expect(await call()).toEqual(DENIED);
  expect(questions[0]?.message).toContain('eval_form (cautious)');
});

test('C20 S2.11 without a way to ask, the refusal names the flag; nothing is done', async () => {
  const session = await ownSession({ args: ['--ask', 'cautious', '--allow', 'compile-form'] });
  expect(await session.call('eval_form', { form: '(defvar *ran* t)' })).toEqual(
    bad(
      "Tool eval_form is cautious and needs a human's approval, and here nobody can be asked. Nothing was done. A person can allow it when they start the server: --allow eval_form",
    ),
  );
  expect(await session.text('describe_symbol', { symbol: '*ran*' })).toContain('not found');
  expect(await session.call('compile_form', { form: '1' })).toMatchObject({ isError: false });
});
