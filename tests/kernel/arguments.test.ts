// The arguments of a handler follow from the parameter list of its tool. The compiler checks this file with all others.

import { expect, expectTypeOf, test } from 'vitest';
import { Executor } from '../../src/kernel/executor.ts';
import type { Arguments, ArgumentsOf, Parameter } from '../../src/kernel/parameter.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import { type ArgumentsFor, defineTool, type Tool, type ToolDescription } from '../../src/kernel/tool.ts';

const DESCRIPTION = {
  name: 'probe',
  description: 'Notes what it was called with.',
  parameters: [
    { name: 'form', type: 'string', description: 'Must be given' },
    { name: 'sites', type: 'boolean', description: 'Can be given' },
    { name: 'limit', type: 'integer', description: 'Can be given' },
    { name: 'timeout', type: 'number', description: 'Can be given' },
    { name: 'mode', type: 'string', description: 'Has a default', enum: ['one', 'all'], default: 'all' },
    { name: 'told', type: 'number', description: 'A default told', default: 20, defaultOnlyDocumented: true },
    { name: 'kind', type: 'string', description: 'Any string', enum: ['a', 'b'], openEnum: true },
    { name: 'names', type: 'array', description: 'Strings', items: { type: 'string' } },
    { name: 'things', type: 'array', description: 'Anything' },
    { name: 'extra', type: 'object', description: 'Anything by name' },
  ],
  required: ['form'],
} as const satisfies ToolDescription;

test('each argument has the type of its parameter, and is there when it is required or has a default', () => {
  expectTypeOf<ArgumentsFor<typeof DESCRIPTION>>().branded.toEqualTypeOf<{
    readonly form: string;
    readonly sites?: boolean;
    readonly limit?: number;
    readonly timeout?: number;
    readonly mode: 'one' | 'all';
    readonly told?: number;
    readonly kind?: string;
    readonly names?: readonly string[];
    readonly things?: readonly unknown[];
    readonly extra?: { readonly [name: string]: unknown };
  }>();
});

test('a name that no parameter has does not compile', () => {
  const tool = defineTool({
    ...DESCRIPTION,
    handler: (args) => {
      expectTypeOf(args.form).toEqualTypeOf<string>();
      expectTypeOf(args.mode).toEqualTypeOf<'one' | 'all'>();
      // @ts-expect-error there is no parameter `from`
      return [args.from, args.form];
    },
    preview: async (args) => {
      expectTypeOf(args.limit).toEqualTypeOf<number | undefined>();
      // @ts-expect-error there is no parameter `limits`
      return { text: String(args.limits), fingerprint: '' };
    },
  });
  expectTypeOf(tool).toEqualTypeOf<Tool>();
});

test('of a list that is not known to the letter nothing follows', () => {
  expectTypeOf<ArgumentsOf<readonly Parameter[], readonly string[]>>().toEqualTypeOf<Arguments>();
  expectTypeOf<ArgumentsOf<readonly [], readonly []>>().branded.toEqualTypeOf<Record<never, never>>();
});

/** Returns what the handler of a tool of DESCRIPTION gets when it is called with ARGS. */
async function received(args: object): Promise<unknown> {
  const registry = new ToolRegistry();
  const seen: unknown[] = [];
  registry.register(defineTool({ ...DESCRIPTION, handler: (given) => seen.push(given) }));
  await new Executor(registry).execute('probe', args);
  return seen[0];
}

test('S2.7 a handler gets the defaults of what is absent, but for those that are only told', async () => {
  expect(await received({ form: '1' })).toEqual({ form: '1', mode: 'all' });
  expect(await received({ form: '1', mode: null, told: null })).toEqual({ form: '1', mode: 'all' });
  expect(await received({ form: '1', mode: 'one', told: 3 })).toEqual({ form: '1', mode: 'one', told: 3 });
});

test.each([[['true', 'more']], [undefined]])(
  'of a switch with further values true and false are true and absent (%j)',
  async (values) => {
    const registry = new ToolRegistry();
    const parameters = [
      { name: 'how', type: 'string', takesTrue: true, ...(values && { enum: values }) },
    ] as const;
    const seen: unknown[] = [];
    registry.register(
      defineTool({ name: 'probe', description: 'P.', parameters, handler: (args) => seen.push(args) }),
    );
    const executor = new Executor(registry);
    for (const how of [true, false, '', 'true', 'more']) await executor.execute('probe', { how });
    expect(seen).toEqual([{ how: 'true' }, {}, {}, { how: 'true' }, { how: 'more' }]);
    const outcome = await executor.execute('probe', { how: 1 });
    expect(outcome).toMatchObject({ error: "Parameter 'how' must be a string, not the number 1." });
  },
);

test('what is recorded and shown of a call is what was given', async () => {
  const registry = new ToolRegistry();
  const recorded: unknown[] = [];
  registry.register(defineTool({ ...DESCRIPTION, safetyLevel: 'cautious', handler: () => null }));
  const begin = (call: { args: Arguments }) => {
    recorded.push(call.args);
    return () => {};
  };
  await new Executor(registry, { audit: { begin } }).execute('probe', { form: '1' });
  const outcome = await new Executor(registry, { ask: 'cautious' }).execute('probe', { form: '1' });
  const question = outcome.success ? undefined : outcome.question;
  expect([recorded, question?.args]).toEqual([[{ form: '1' }], { form: '1' }]);
});
