// C29 below the protocol: what is told when nobody answered, when a person changed the arguments, and beside a denial.

import { expect, test } from 'vitest';
import type { Verdict } from '../../src/kernel/approval.ts';
import { Executor } from '../../src/kernel/executor.ts';
import { runModelCall } from '../../src/kernel/model-call.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import { defineTool, type ToolDefinition } from '../../src/kernel/tool.ts';
import { VALID } from './tools.ts';

const ALLOW = 'A person can allow it when they start the server: --allow';
const CHANGED =
  "The user changed these arguments and approved: symbol. The call ran with the user's values, not with yours.";

/** Returns an executor of a dangerous tool that returns its argument, and what it was run with. */
function asking(preview?: ToolDefinition['preview']) {
  const runs: unknown[] = [];
  const registry = new ToolRegistry();
  const handler = ({ symbol }: Record<string, unknown>) => {
    runs.push(symbol);
    return symbol;
  };
  const tool = { ...VALID, name: 'probe', safetyLevel: 'dangerous', required: ['symbol'], handler } as const;
  registry.register(defineTool({ ...tool, ...(preview && { preview }) }));
  return { executor: new Executor(registry), runs };
}

const previewIn = (place: string) => async () => ({ text: 'a change', place, fingerprint: 'v1' });

test.each([
  [undefined, `${ALLOW} probe`],
  ['src/a.lisp', `${ALLOW} probe:src/a.lisp`],
  ['src/*', `${ALLOW} probe:GLOB`],
])(
  'C29 when nobody answered about %s, nothing runs, and the text says how it could',
  async (place, allow) => {
    const { executor, runs } = asking(place === undefined ? undefined : previewIn(place));
    expect(await executor.execute('probe', { symbol: 'car' }, {}, { kind: 'unanswered' })).toEqual({
      success: false,
      error: `Tool probe is dangerous and needs a human's approval. Nobody answered the question, so nothing was done. ${allow}`,
      notices: [],
    });
    expect(runs).toEqual([]);
  },
);

test('C29 a denial has its own text, and how it could be allowed beside it', async () => {
  const { executor, runs } = asking();
  expect(await executor.execute('probe', { symbol: 'car' }, {}, { kind: 'denied' })).toEqual({
    success: false,
    error: 'Tool execution denied by user',
    notices: [],
    hint: `Nothing was done. If no person decided this, the client did by itself. ${ALLOW} probe`,
  });
  expect(runs).toEqual([]);
});

test.each<[string, unknown, string[], string]>([
  ['others', { symbol: 'cdr' }, ['symbol'], CHANGED],
  ['the same', { symbol: 'car' }, [], 'The user approved the call as it was.'],
])('C29 arguments that a person made %s are told', async (_, args, changed, notice) => {
  const { executor } = asking();
  const outcome = await executor.execute('probe', { symbol: 'car' }, {}, { kind: 'modified', args });
  expect(outcome).toMatchObject({ success: true, changed, notices: [notice] });
});

test('C29 the result of the library says that they changed, and a program can say that nobody answered', async () => {
  const { executor, runs } = asking();
  const call = { id: '1', name: 'probe', arguments: { symbol: 'car' } };
  const result = (verdict: Verdict) => runModelCall(() => executor, call, { approve: () => verdict });
  expect(await result({ kind: 'modified', args: { symbol: 'cdr' } })).toEqual({
    id: '1',
    success: true,
    modified: true,
    data: 'cdr',
    result: `cdr\n\n${CHANGED}`,
  });
  expect(await result({ kind: 'unanswered' })).toMatchObject({
    success: false,
    error: expect.stringContaining('Nobody answered the question'),
  });
  expect(runs).toEqual(['cdr']);
});
