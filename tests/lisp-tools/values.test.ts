// Random values go through a tool that is written in Lisp, and come back as they were.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assemble } from '../../src/assembly.ts';
import { readConfig } from '../../src/config.ts';
import { anyText } from '../any-text.ts';
import { PROJECT } from '../harness.ts';
import { cases } from '../long.ts';

const { image, registry, executor } = assemble(readConfig(['--root', PROJECT], process.env));
beforeAll(async () => {
  const types = ['string', 'boolean', 'number', 'integer', 'object', 'array'];
  const parameters = types.map((type) => `(:name "${type}" :type :${type})`).join(' ');
  const form = `(live-lisp:register-tool live-lisp:*agent-q-registry* (live-lisp:define-tool "echo" "Echo." '(${parameters})
    :handler (lambda (args) (loop for value being the hash-values of args do (return value)))))`;
  expect(await executor.execute('eval_form', { form })).toMatchObject({ success: true });
  expect(registry.getTool('echo')).not.toBeNull();
});
afterAll(() => image.close());

/** Returns what the tool gives back for VALUE. */
async function echo(value: unknown): Promise<unknown> {
  const type = Array.isArray(value) ? 'array' : typeof value;
  const outcome = await executor.executeForCode('echo', { [type]: value });
  return outcome.success ? outcome.data : outcome.error;
}

const text = fc.oneof(fc.string({ unit: 'grapheme' }), anyText(), fc.string());
const number = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
);

/** Values without NIL's many meanings: false, null and the empty array are one value in Lisp. */
const { value: plain } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 6 }, text, number, fc.constant(true), tie('array'), tie('object')),
  array: fc.array(tie('value'), { minLength: 1, maxLength: 6 }),
  object: fc.dictionary(text, tie('value'), { maxKeys: 6 }),
}));

/** Returns VALUE with what is NIL in Lisp as null. */
function likeLisp(value: unknown): unknown {
  if (value === false || (Array.isArray(value) && value.length === 0)) return null;
  if (Array.isArray(value)) return value.map(likeLisp);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, likeLisp(each)]));
}

test('S2.21 any value without NIL comes back unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(plain, async (value) => {
      expect(await echo(value)).toEqual(value);
    }),
    cases(150, 500),
  );
});

test('S2.21 any JSON value comes back with false, null and the empty array as NIL', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue().filter((value) => value !== null),
      async (value) => {
        expect(await echo(value)).toEqual(likeLisp(JSON.parse(JSON.stringify(value))));
      },
    ),
    cases(100, 300),
  );
});

test('S2.21 S2.8 any string is its own text, and any number reads as itself', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      const outcome = await executor.execute('echo', { string: value });
      expect(outcome).toMatchObject({ success: true, text: value });
    }),
    cases(60, 200),
  );
  // SBCL's printer drops digits of denormalized floats.
  const normal = number.filter((value) => value === 0 || Math.abs(value) > 1e-300);
  await fc.assert(
    fc.asyncProperty(normal, async (value) => {
      const outcome = await executor.execute('echo', { number: value });
      expect(outcome.success && Number(outcome.text)).toBe(value);
    }),
    cases(60, 200),
  );
});

test('S2.21 an integer is one however large, and what is nested too deep for the image is refused', async () => {
  for (const value of [1e21, -1e25, 2 ** 100]) {
    const outcome = await executor.execute('echo', { integer: value });
    expect(outcome).toMatchObject({ success: true, text: BigInt(value).toString(), data: value });
  }
  const nested = (levels: number) => ({ array: JSON.parse('['.repeat(levels) + ']'.repeat(levels)) });
  expect(await executor.execute('echo', nested(100))).toMatchObject({ success: true });
  for (const levels of [102, 8000]) {
    expect(await executor.execute('echo', nested(levels))).toMatchObject({
      success: false,
      error: 'The arguments are nested more than 100 levels deep. Nest them less.',
    });
  }
});
