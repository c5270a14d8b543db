// S2 and S4 below the protocol: what becomes of a call.

import { describe, expect, test } from 'vitest';
import { reasonOf } from '../../src/image/wire/endings.ts';
import { Executor, type ExecutorOptions } from '../../src/kernel/executor.ts';
import type { Outcome } from '../../src/kernel/outcome.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import { defineTool } from '../../src/kernel/tool.ts';
import { type Probe, probe, VALID } from './tools.ts';

function executor(probes: Probe[], options: ExecutorOptions = {}): Executor {
  const registry = new ToolRegistry();
  for (const { tool } of probes) registry.register(tool);
  return new Executor(registry, options);
}

/** Returns the outcome of a call whose arguments are wrong, as ERROR says. */
function refused(error: string): Outcome {
  return { ...failed(error), cause: 'usage' } as Outcome;
}

function failed(error: string): Outcome {
  return { success: false, error, notices: [] };
}

describe('arguments', () => {
  const parameters = [
    { name: 'symbol', type: 'string', description: 'A name' },
    { name: 'package', type: 'string', description: 'Another' },
  ] as const;

  test('S2.7 the handler gets what was given under the names of the parameters', async () => {
    const one = probe({ parameters, required: ['symbol'] });
    await executor([one]).execute('probe', { symbol: 'car', package: 'CL' });
    expect(one.runs).toEqual([{ symbol: 'car', package: 'CL' }]);
  });

  test.each([{ symbol: 'car' }, { symbol: 'car', package: null }, { symbol: 'car', package: undefined }])(
    'S2.7 of %j the absent option is absent in the map',
    async (args) => {
      const one = probe({ parameters, required: ['symbol'] });
      await executor([one]).execute('probe', args);
      expect(one.runs.map((got) => Object.keys(got))).toEqual([['symbol']]);
    },
  );

  test.each([{}, undefined, null, { symbol: null }, { package: 'CL' }])(
    'S2.18 in %j the symbol is missing: the handler is not run',
    async (args) => {
      const one = probe({ parameters, required: ['symbol'] });
      expect(await executor([one]).execute('probe', args)).toEqual(
        refused("Required parameter 'symbol' missing"),
      );
      expect(one.runs).toEqual([]);
    },
  );

  test.each(['constructor', 'toString', '__proto__'])(
    'S2.18 a required parameter named %s can be missing too',
    async (name) => {
      const one = probe({ parameters: [{ name, type: 'string', description: 'Odd' }], required: [name] });
      expect(await executor([one]).execute('probe', {})).toEqual(
        refused(`Required parameter '${name}' missing`),
      );
      expect(one.runs).toEqual([]);
    },
  );

  test.each([
    ['string', [5, true, ['a'], { a: 1 }]],
    ['boolean', ['true', 0, []]],
    ['number', ['5', true, Number.NaN, Number.POSITIVE_INFINITY, []]],
    ['integer', [5.5, '5', Number.NaN, []]],
    ['object', [[], 'a', 5]],
    ['array', [{}, 'a', 5]],
  ] as const)(
    'S2.18 S2.5 C24 what is no %s is told by the name of its parameter: the handler is not run',
    async (type, values) => {
      const one = probe({
        parameters: [{ name: 'value', type, description: 'A value' }],
        required: ['value'],
      });
      for (const value of values) {
        const outcome = await executor([one]).execute('probe', { value });
        expect(outcome).toEqual(refused(expect.stringContaining("'value'")));
      }
      expect(one.runs).toEqual([]);
    },
  );

  test.each([
    ['string', ['', 'a', '5']],
    ['boolean', [true, false]],
    ['number', [0, 5, -5.5]],
    ['integer', [0, -5, 5.0]],
    ['object', [{}, { a: { b: 1 } }]],
    ['array', [[], [1, 'a']]],
  ] as const)('S2.5 S2.7 C24 every %s reaches the handler as it is', async (type, values) => {
    const one = probe({ parameters: [{ name: 'value', type, description: 'A value' }], required: ['value'] });
    for (const value of values) await executor([one]).execute('probe', { value });
    expect(one.runs).toEqual(values.map((value) => ({ value })));
  });
});

describe('outcomes', () => {
  test('S2.9 a handler that throws is a failure with its message', async () => {
    const thrower = probe({}, () => {
      throw new Error('MSG');
    });
    expect(await executor([thrower]).execute('probe', {})).toEqual(failed('Tool error: MSG'));
  });

  test.each(['a string', 5, null, undefined, { message: 'no error' }])(
    'S2.9 a handler that throws %j does not break the executor',
    async (thrown) => {
      const thrower = probe({}, () => Promise.reject(thrown));
      expect(await executor([thrower]).execute('probe', {})).toEqual(failed(`Tool error: ${String(thrown)}`));
    },
  );

  test('S2.9 what has no text is a failure as well', async () => {
    const thrower = probe({}, () => Promise.reject(Object.create(null)));
    const error = 'Tool error: what was thrown has no text';
    expect(await executor([thrower]).execute('probe', {})).toEqual(failed(error));
  });

  test.each([5, null, undefined, {}, Symbol('x')])(
    'S4.13 a name that is %o is the name of no tool',
    async (name) => {
      expect(await executor([probe()]).execute(name as string, {})).toEqual(
        failed(`Unknown tool: ${String(name)}`),
      );
    },
  );

  test('S2.10 C17 a handler that returns "Error: …" succeeded', async () => {
    const one = probe({}, () => ({ data: null, text: 'Error: Invalid input' }));
    const outcome = await executor([one]).execute('probe', {});
    expect(outcome).toEqual({ success: true, text: 'Error: Invalid input', data: null, notices: [] });
  });

  test('S2.14 S4.13 a tool that is defined but not registered does not run', async () => {
    const { tool, runs } = probe({ name: 'nope' });
    expect(await executor([probe()]).execute(tool.name, {})).toEqual(failed('Unknown tool: nope'));
    expect(runs).toEqual([]);
  });

  test('S4.13 calls side by side have each their own result, in the order of the calls', async () => {
    const slow = probe(
      { name: 'slow' },
      () => new Promise((done) => setTimeout(() => done({ data: 1, text: 'slow' }), 50)),
    );
    const quick = probe({ name: 'quick' }, () => ({ data: 2, text: 'quick' }));
    const both = executor([slow, quick]);
    const outcomes = await Promise.all(
      ['slow', 'nope', 'quick', 'slow'].map((name) => both.execute(name, {})),
    );
    expect(outcomes.map((each) => (each.success ? each.text : each.error))).toEqual([
      'slow',
      'Unknown tool: nope',
      'quick',
      'slow',
    ]);
  });
});

describe('notices', () => {
  test('S1.14 they wait for an answer that some clients do not show as structure only', async () => {
    const structured = probe({ name: 'structured' }, () => ({ data: {}, text: '{}', structured: true }));
    const notices = ['lost'];
    const takeNotices = () => notices.splice(0);
    const both = executor([structured, probe()], { takeNotices });
    expect(await both.execute('structured', {})).toMatchObject({ success: true, notices: [] });
    expect(await both.execute('probe', {})).toMatchObject({ success: true, notices: ['lost'] });
  });
});

describe('what a handler returns', () => {
  test.each<[unknown, string]>([
    ['as it is', 'as it is'],
    ['', ''],
    [null, 'nil'],
    [undefined, 'nil'],
    [false, 'nil'],
    [[], 'nil'],
    [true, 't'],
    [[1, 'a'], '(1 "a")'],
    [['say "\\"', [2.5, null], []], '("say \\"\\\\\\"" (2.5 nil) nil)'],
    [42, '42'],
    [-0.5, '-0.5'],
    [{ a: [1] }, '{"a":[1]}'],
  ])('S2.8 C22 %j reads as %s', async (value, text) => {
    const tool = defineTool({ ...VALID, handler: () => value });
    expect(await executor([{ tool, runs: [] }]).execute('probe', {})).toMatchObject({ success: true, text });
  });
});

// Several wait for what a call has besides its limit.
describe.concurrent('limits', () => {
  test('a handler that does not end is given up, and was told to end', async () => {
    let reported = false;
    const tool = defineTool({
      ...VALID,
      limitMs: 50,
      handler: (_, { signal }) => {
        signal?.addEventListener('abort', () => {
          reported = true;
        });
        return new Promise(() => {});
      },
    });
    expect(await executor([{ tool, runs: [] }]).execute('probe', {})).toEqual(
      failed(
        'The call did not end within 0.05 s, the limit of probe. Its result is no longer awaited, and what the call began may go on. Ask for less in one call.',
      ),
    );
    expect(reported).toBe(true);
  });

  test('a handler that ends when it is told says itself how it ended', async () => {
    const tool = defineTool({
      ...VALID,
      limitMs: 50,
      handler: (_, { signal }) =>
        new Promise((resolve) => signal?.addEventListener('abort', () => resolve('so far'))),
    });
    expect(await executor([{ tool, runs: [] }]).execute('probe', {})).toMatchObject({ text: 'so far' });
  });

  test('a handler can say whether its limit was over or the call was cancelled', async () => {
    const tool = defineTool({
      ...VALID,
      limitMs: 50,
      handler: (_, { signal }) =>
        new Promise((resolve) => signal?.addEventListener('abort', () => resolve(reasonOf(signal)))),
    });
    expect(await executor([{ tool, runs: [] }]).execute('probe', {})).toMatchObject({ text: 'timeout' });
    const cancelling = new AbortController();
    setTimeout(() => cancelling.abort(), 10);
    expect(
      await executor([{ tool, runs: [] }]).execute('probe', {}, { signal: cancelling.signal }),
    ).toMatchObject({ text: 'cancelled' });
  });

  test('a call that is cancelled does not wait for its handler', async () => {
    const tool = defineTool({ ...VALID, handler: () => new Promise(() => {}) });
    const signal = AbortSignal.timeout(10);
    expect(await executor([{ tool, runs: [] }]).execute('probe', {}, { signal })).toEqual(
      failed(
        'The call did not end when the call was cancelled. Its result is no longer awaited, and what the call began may go on. Ask for less in one call.',
      ),
    );
  });

  test('a call that is cancelled before it runs does not run', async () => {
    const one = probe();
    expect(await executor([one]).execute('probe', {}, { signal: AbortSignal.abort() })).toEqual(
      failed('The call was cancelled before it ran; nothing was done.'),
    );
    expect(one.runs).toEqual([]);
  });

  test('a preview that does not end is given up as well', async () => {
    const one = probe({ safetyLevel: 'dangerous', limitMs: 20, preview: () => new Promise(() => {}) });
    expect(await executor([one]).execute('probe', {})).toMatchObject({
      error: expect.stringMatching(/^The call did not end within 0.02 s, the limit of probe/),
    });
  });

  test('a limit longer than a timer can be is none', async () => {
    const one = probe(
      { limitMs: 3e9 },
      () => new Promise((done) => setTimeout(() => done({ data: 1, text: 'ran' }), 50)),
    );
    expect(await executor([one]).execute('probe', {})).toMatchObject({ success: true, text: 'ran' });
  });

  test.each([0, -1, Number.NaN])('%d is no limit', (limitMs) => {
    expect(() => defineTool({ ...VALID, limitMs })).toThrow(
      `Tool "probe" has the limit ${limitMs}; it must be milliseconds above 0.`,
    );
  });
});
