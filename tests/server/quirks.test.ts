// What single clients get otherwise than others do, against small copies of how they behave.

import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERAS, type Era, type Session, startSession } from '../harness.ts';

interface WireResult {
  content?: { type: string; text?: unknown }[];
  structuredContent?: unknown;
}

/** Does to MESSAGE what McpComplianceTransport of Gemini CLI 0.61 does before its client sees it. */
function asGeminiTakes(message: JSONRPCMessage): void {
  if (!('result' in message)) return;
  const result = message.result as WireResult;
  const first = result.content?.[0];
  if (result.structuredContent || first?.type !== 'text' || typeof first.text !== 'string') return;
  try {
    result.structuredContent = JSON.parse(first.text);
  } catch {
    // No JSON: the answer stays as it was.
  }
}

/** Returns a session of a client CLIENT NAME with that transport, and the structures that its client gets. */
async function geminiSession(clientName: string) {
  const session = await startSession({ clientName });
  const structures: unknown[] = [];
  const take = session.transport.onmessage;
  session.transport.onmessage = (message: JSONRPCMessage) => {
    asGeminiTakes(message);
    if ('result' in message) structures.push((message.result as WireResult).structuredContent);
    take?.(message);
  };
  return { session, structures };
}

const JSON_VALUES = [
  ['3', '(+ 1 2)'],
  ['"hello"', '"hello"'],
  ['null', "(live-lisp-test-symbol '|null|)"],
  ['[]', "(live-lisp-test-symbol '[])"],
] as const;

/** Has what it is given print without bars, so that answers can be any JSON. */
const PRINTS_BARE = `(progn (defstruct bare symbol)
  (defmethod print-object ((bare bare) stream) (write-string (symbol-name (bare-symbol bare)) stream))
  (defun live-lisp-test-symbol (symbol) (make-bare :symbol symbol)) t)`;

async function structuresOf(session: Session, structures: unknown[]): Promise<unknown[]> {
  await session.eval(PRINTS_BARE);
  const found = [];
  for (const [text, form] of JSON_VALUES) {
    structures.length = 0;
    const { content } = await session.client.callTool({ name: 'eval_form', arguments: { form } });
    expect(content).toEqual([{ type: 'text', text }]);
    found.push(structures[0]);
  }
  return found;
}

/** Returns a session of a client CLIENT NAME that asks from cautious on, and the messages and choices of its questions. */
async function askingSession(era: Era, clientName: string) {
  const questions: { message: string; choices: unknown }[] = [];
  const session = await startSession({
    era,
    clientName,
    args: ['--ask', 'cautious'],
    onQuestion: ({ message, requestedSchema }) => {
      const { decision } = requestedSchema.properties;
      questions.push({ message: message.replace(/All of it: \S+/, 'FILE'), choices: decision });
      return { action: 'accept', content: { decision: 'approve' } };
    },
  });
  return { session, questions };
}

const IN_TWO = '(list "\u23ce"\n      2)\n\n(list 3)';
const LINES = [
  'Approve eval_form (cautious)?',
  '> form: (list "\u23ce"',
  '|       2)',
  '| ',
  '| (list 3)',
  'FILE',
];
const LONG = `"${'two words '.repeat(30)}"`;
const OFFERED = ['approve', 'approve for this session', 'deny'];
const NOT_OFFERED = ['deny', 'approve'];

describe.each(ERAS)('Claude Code in the %s era', (era) => {
  let asking: Awaited<ReturnType<typeof askingSession>>;
  beforeAll(async () => {
    asking = await askingSession(era, 'claude-code');
  });
  afterAll(() => asking.session.close());

  test('gets a question in one line, as it cuts others', async () => {
    const { session, questions } = asking;
    questions.length = 0;
    expect(await session.eval(IN_TWO)).toContain('[2] (3)');
    const inOne = LINES.join('\n').replace('\u23ce', '<U+23CE>').replaceAll('\n', ' \u23ce ');
    expect(questions.map(({ message }) => message)).toEqual([inOne]);
  });

  test.each([
    ['what it shows whole', `"${'two words '.repeat(5)}"`, OFFERED],
    ['a word that it shows a part of', LONG.replaceAll(' ', ''), NOT_OFFERED],
    ['wide letters that it shows a part of', `"${'\u6f22\u5b57 '.repeat(60)}"`, NOT_OFFERED],
    ['tabs that it shows a part of', `"${'\t'.repeat(40)}"`, NOT_OFFERED],
  ])('offers an approval for the session only for what it shows whole: %s', async (_, form, choices) => {
    const { session, questions } = asking;
    questions.length = 0;
    await session.eval(form);
    expect(questions).toMatchObject([{ choices: { enum: choices } }]);
  });
});

test('another client gets a question in lines, and an approval for the session for what Claude Code cuts', async () => {
  const { session, questions } = await askingSession('modern', 'another-claude-code');
  expect(await session.eval(IN_TWO)).toContain('[2] (3)');
  await session.eval(LONG);
  expect(questions[0]?.message).toBe(LINES.join('\n'));
  expect(questions[1]).toMatchObject({ choices: { enum: OFFERED } });
  expect(questions).toHaveLength(2);
  await session.close();
});

describe('Gemini CLI', () => {
  let gemini: Awaited<ReturnType<typeof geminiSession>>;
  beforeAll(async () => {
    gemini = await geminiSession('gemini-cli-mcp-client');
  });
  afterAll(() => gemini.session.close());

  test('its model gets answers that are JSON, with the notices', async () => {
    const { session, structures } = gemini;
    expect(await structuresOf(session, structures)).toEqual(JSON_VALUES.map(([text]) => ({ texts: [text] })));
    await session.eval('(sb-ext:exit :code 3 :abort t)');
    structures.length = 0;
    const after = await session.client.callTool({ name: 'eval_form', arguments: { form: '(1+ 1)' } });
    const texts = (after.content as { text: string }[]).map(({ text }) => text);
    expect(texts).toHaveLength(2);
    expect(texts[0]).toBe('2');
    expect(structures).toEqual([{ texts }]);
  });

  test('other answers are as they were', async () => {
    const { session, structures } = gemini;
    structures.length = 0;
    expect(await session.eval('(list 1 2)')).toBe('(1 2)');
    expect(structures).toEqual([undefined]);
    structures.length = 0;
    await session.call('search_tools', { query: 'nonsensical' });
    expect(structures).toMatchObject([{ success: true, tools: [] }]);
  });
});

test('no client but Gemini CLI gets a structure, so its transport would put the value there', async () => {
  const { session, structures } = await geminiSession('another-gemini-cli');
  structures.length = 0;
  await session.client.callTool({ name: 'eval_form', arguments: { form: '(+ 1 2)' } }).catch(() => {});
  expect(structures).toEqual([3]);
  await session.close();
});
