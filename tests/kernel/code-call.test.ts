// How code in the image calls a tool: names, NIL, the executor's way, and what comes back.

import { describe, expect, test } from 'vitest';
import { callFromCode } from '../../src/kernel/code-call.ts';
import { Executor } from '../../src/kernel/executor.ts';
import type { Parameter } from '../../src/kernel/parameter.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import type { Result, ToolDefinition } from '../../src/kernel/tool.ts';
import { type Probe, probe } from '../contracts/tools.ts';
import { unknownTool } from '../said.ts';

const PARAMETERS: Parameter[] = [
  { name: 'maxResults', type: 'integer', description: 'A number' },
  { name: 'dry_run', type: 'boolean', description: 'A boolean' },
  { name: 'names', type: 'array', description: 'A list', items: { type: 'boolean' } },
  { name: 'rest', type: 'array', description: 'Another list' },
  { name: 'text', type: 'string', description: 'A string' },
  { name: 'options', type: 'object', description: 'An object' },
];

function setUp(changes: Partial<ToolDefinition> = {}, answer?: () => Result | Promise<Result>) {
  const one: Probe = probe({ name: 'one_tool', parameters: PARAMETERS, ...changes }, answer);
  const registry = new ToolRegistry();
  registry.register(one.tool);
  let notices = ['kept'];
  const executor = new Executor(registry, {
    takeNotices: () => {
      const taken = notices;
      notices = [];
      return taken;
    },
  });
  const call = (name: string, args: { [name: string]: unknown } = {}) =>
    callFromCode(executor, registry, name, args, new AbortController().signal);
  return { ...one, executor, call };
}

describe('names', () => {
  test.each(['one_tool', 'ONE-TOOL'])('S2.21 %s is the tool one_tool', async (name) => {
    expect(await setUp({}, () => ({ data: [1], text: 'x' })).call(name)).toEqual({
      value: [1],
      text: 'x',
    });
  });

  test('an unknown tool is told with near names', async () => {
    const { call } = setUp();
    expect(await call('one-tol')).toEqual({ failure: 'Unknown tool: one-tol. Did you mean one_tool?' });
    expect(await call('zzzzzzzz')).toEqual({
      failure: unknownTool('zzzzzzzz'),
    });
  });

  test('S2.21 parameters are found whatever their case, - and _', async () => {
    for (const name of ['maxResults', 'MAX_RESULTS']) {
      const { call, runs } = setUp();
      await call('one_tool', { [name]: 3, 'dry-run': true });
      expect(runs).toEqual([{ maxResults: 3, dry_run: true }]);
    }
  });

  test('the exact name is preferred, and the first of several that mean the same counts', async () => {
    const parameters: Parameter[] = [
      { name: 'ab', type: 'string', description: 'One' },
      { name: 'a_b', type: 'string', description: 'Another' },
    ];
    const { call, runs } = setUp({ parameters });
    await call('one_tool', { a_b: 'second', ab: 'first', AB: 'again' });
    expect(runs).toEqual([{ a_b: 'second', ab: 'first' }]);
  });

  test.each([
    ['x', 1],
    ['__proto__', null],
  ])('an unknown parameter %s is refused, also with NIL as its value', async (name, value) => {
    const { call, runs } = setUp();
    expect(await call('one_tool', Object.fromEntries([[name, value]]))).toEqual({
      failure: `Unknown parameter '${name}'; one_tool takes maxResults, dry_run, names, rest, text, options.`,
    });
    expect(runs).toEqual([]);
  });
});

test('S2.21 NIL is false, an empty array, or absent, as the parameter wants it', async () => {
  const { call, runs } = setUp();
  const nothing = Object.fromEntries(PARAMETERS.map(({ name }) => [name, null]));
  await call('one_tool', nothing);
  await call('one_tool', { names: [true, null], rest: [null], dry_run: false });
  expect(runs).toEqual([
    { dry_run: false, names: [], rest: [] },
    { names: [true, false], rest: [null], dry_run: false },
  ]);
});

describe('the way of the call is that of every call', () => {
  test('arguments are validated', async () => {
    const { call, runs } = setUp({ required: ['text'] });
    expect(await call('one_tool', { text: null })).toEqual({ failure: "Required parameter 'text' missing" });
    expect(runs).toEqual([]);
  });

  test('a dangerous tool is refused', async () => {
    const { call, runs } = setUp({ safetyLevel: 'dangerous' });
    expect(await call('one_tool')).toEqual({
      failure:
        "Tool one_tool is dangerous and needs a human's approval, which code cannot request. Nothing was done. Call one_tool directly, not from code, so that a human can be asked.",
      needsApproval: true,
    });
    expect(runs).toEqual([]);
  });

  test('what a handler throws or marks as failed is a failure', async () => {
    const thrown = setUp({}, () => {
      throw new Error('thrown');
    });
    expect(await thrown.call('one_tool')).toEqual({ failure: 'Tool error: thrown' });
    const failed = setUp({}, () => ({ data: 1, text: 'It did not.', failed: true }));
    expect(await failed.call('one_tool')).toEqual({ failure: 'It did not.' });
  });

  test('notices are left for the next call of a client', async () => {
    const { call, executor } = setUp();
    await call('one_tool');
    expect((await executor.execute('one_tool', {})).notices).toEqual(['kept']);
    expect((await executor.execute('one_tool', {})).notices).toEqual([]);
  });
});
