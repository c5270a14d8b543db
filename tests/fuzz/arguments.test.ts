// Random arguments for every tool, by its schema and against it: each call is answered in words, and costs no image.

import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { anyText } from '../any-text.ts';
import { cases, PATIENCE_MS } from '../long.ts';
import { imagesOf } from '../server/processes.ts';
import { sharedFolder, sharedSession } from '../shared.ts';

interface Schema {
  type?: string;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
}

const folder = sharedFolder();
let tools: { name: string; inputSchema: Schema }[];
const session = sharedSession({ cwd: folder.path, args: ['--eval-timeout', '5'] });
beforeAll(async () => {
  tools = (await session.client.listTools()).tools as typeof tools;
  await session.eval('(defvar *before* :kept)', { timeout: 60 });
});

const text = fc.oneof(
  fc.string(),
  anyText(),
  fc.constantFrom(
    'car',
    'CL',
    'cl-user',
    'nil',
    '',
    '(',
    "#'car",
    '(setf car)',
    '|',
    'a:b:c',
    ':',
    '~a',
    '../..',
    '/',
    '.',
    '\0',
    'x'.repeat(20_000),
  ),
);

/** Returns values of SCHEMA, and others. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const fitting: Record<string, fc.Arbitrary<unknown>> = {
    string: schema.enum ? fc.constantFrom(...schema.enum) : text,
    boolean: fc.boolean(),
    integer: fc.oneof(fc.integer(), fc.constantFrom(0, -1, 1, 2 ** 53, 1e300)),
    number: fc.oneof(fc.double(), fc.constantFrom(0, -1, 0.2, 1e-320)),
    array: fc.array(schema.items ? valuesOf(schema.items) : text, { maxLength: 3 }),
  };
  return fc.oneof(
    { weight: 5, arbitrary: fitting[schema.type ?? ''] ?? fc.jsonValue({ maxDepth: 2 }) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  );
}

function argumentsOf(schema: Schema): fc.Arbitrary<Record<string, unknown>> {
  const properties = Object.entries(schema.properties ?? {}).map(
    ([name, each]) => [name, valuesOf(each)] as const,
  );
  return fc.oneof(
    { weight: 9, arbitrary: fc.record(Object.fromEntries(properties), { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }) },
  );
}

test(
  'every tool answers whatever it is called with',
  async () => {
    let image = imagesOf(session.pid);
    for (const { name, inputSchema } of tools) {
      await fc.assert(
        fc.asyncProperty(argumentsOf(inputSchema), async (args) => {
          const answer = await session.call(
            name,
            JSON.parse(JSON.stringify(args)) as Record<string, unknown>,
          );
          expect(answer.text.length).toBeLessThan(60_000);
          expect(answer.isError && answer.text === '').toBe(false);
          expect(answer.text).not.toMatch(
            /TypeError|is not a function|Cannot read|backend failed|image was lost during/,
          );
        }),
        cases(8),
      );
      // It runs without a question here, and builds the next image as the one before was.
      if (name === 'restart_image') image = imagesOf(session.pid);
    }
    expect(await session.eval('*before*', { timeout: 60 })).toBe(':KEPT');
    expect(imagesOf(session.pid)).toEqual(image);
  },
  PATIENCE_MS,
);

test.each([2 ** 53, 1e21, 1e300])('an index of %d costs no image', async (index) => {
  await session.call('eval_form', { form: '(error "one")' });
  expect(await session.text('get_last_error', { index })).toMatch(/error/);
  expect(await session.eval('*before*', { timeout: 60 })).toBe(':KEPT');
});
