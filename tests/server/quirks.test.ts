// What single clients get otherwise than others do, against small copies of how they behave.

import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { ERAS, type Session, startSession } from '../harness.ts';

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
async function geminiSession(era: 'legacy' | 'modern', clientName: string) {
  const session = await startSession({ era, clientName });
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
  ['1.5', '1.5'],
  ['true', "(live-lisp-test-symbol '|true|)"],
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

describe.each(ERAS)('Claude Code in the %s era', (era) => {
  const FORM = '(list "\u23ce"\n      2)\n\n(list 3)';
  const LINES = [
    'Approve eval_form (cautious)?',
    '> form: (list "\u23ce"',
    '|       2)',
    '| ',
    '| (list 3)',
    'FILE',
  ];
  const IN_ONE = LINES.join('\n').replace('\u23ce', '<U+23CE>').replaceAll('\n', ' \u23ce ');

  test.each([
    ['gets a question in one line, as it cuts others', 'claude-code', IN_ONE],
    ['alone does', 'another-claude-code', LINES.join('\n')],
  ])('%s', async (_, clientName, expected) => {
    const questions: string[] = [];
    const session = await startSession({
      era,
      clientName,
      args: ['--ask', 'cautious'],
      onQuestion: ({ message }) => {
        questions.push(message.replace(/All of it: \S+/, 'FILE'));
        return { action: 'accept', content: { decision: 'approve' } };
      },
    });
    expect(await session.eval(FORM)).toContain('[2] (3)');
    expect(questions).toEqual([expected]);
    await session.close();
  });
});

describe.each(ERAS)('an approval for the session in the %s era', (era) => {
  const SHORT = `"${'two words '.repeat(5)}"`;
  const LONG = `"${'two words '.repeat(30)}"`;
  const WIDE = `"${'\u6f22\u5b57 '.repeat(60)}"`;
  const PICTURES = `"${'\u2705'.repeat(150)}"`;
  const TABS = `"${'\t'.repeat(40)}"`;

  test.each([
    ['claude-code', 'what it shows whole', SHORT, true],
    ['claude-code', 'what it shows a part of', LONG, false],
    ['claude-code', 'a word that it shows a part of', LONG.replaceAll(' ', ''), false],
    ['claude-code', 'wide letters that it shows a part of', WIDE, false],
    ['claude-code', 'small pictures that it shows a part of', PICTURES, false],
    ['claude-code', 'tabs that it shows a part of', TABS, false],
    ['another-claude-code', 'what is shown whole', LONG, true],
  ])('is offered by %s for %s: %s', async (clientName, _, form, offered) => {
    const choices: unknown[] = [];
    const session = await startSession({
      era,
      clientName,
      args: ['--ask', 'cautious'],
      onQuestion: ({ requestedSchema }) => {
        choices.push(requestedSchema.properties['decision']);
        return { action: 'accept', content: { decision: 'approve' } };
      },
    });
    await session.eval(form);
    const all = offered
      ? ['approve', 'approve for this session', 'approve with changes', 'deny']
      : ['deny', 'approve', 'approve with changes'];
    expect(choices).toMatchObject([{ enum: all }]);
    await session.close();
  });
});

describe.each(ERAS)('Gemini CLI in the %s era', (era) => {
  test('its model gets answers that are JSON, with the notices', async () => {
    const { session, structures } = await geminiSession(era, 'gemini-cli-mcp-client');
    expect(await structuresOf(session, structures)).toEqual(JSON_VALUES.map(([text]) => ({ texts: [text] })));
    await session.eval('(sb-ext:exit :code 3 :abort t)');
    structures.length = 0;
    const after = await session.client.callTool({ name: 'eval_form', arguments: { form: '(1+ 1)' } });
    const texts = (after.content as { text: string }[]).map(({ text }) => text);
    expect(texts).toHaveLength(2);
    expect(texts[0]).toBe('2');
    expect(structures).toEqual([{ texts }]);
    await session.close();
  });

  test('other answers are as they were', async () => {
    const { session, structures } = await geminiSession(era, 'gemini-cli-mcp-client');
    structures.length = 0;
    expect(await session.eval('(list 1 2)')).toBe('(1 2)');
    expect(structures).toEqual([undefined]);
    structures.length = 0;
    await session.call('search_tools', { query: 'nonsensical' });
    expect(structures).toMatchObject([{ success: true, tools: [] }]);
    await session.close();
  });

  test('no other client gets a structure, so its transport would put the value there', async () => {
    const { session, structures } = await geminiSession(era, 'another-gemini-cli');
    structures.length = 0;
    await session.client.callTool({ name: 'eval_form', arguments: { form: '(+ 1 2)' } }).catch(() => {});
    expect(structures).toEqual([3]);
    await session.close();
  });
});
