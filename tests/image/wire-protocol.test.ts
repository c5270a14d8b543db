import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { agentArguments, agentEnvironment, cacheFolder } from '../../src/image/agent.ts';
import { Child } from '../../src/image/child.ts';
import { findSbcl } from '../../src/image/sbcl.ts';
import { type Message, PROTOCOL_VERSION } from '../../src/image/wire.ts';
import { PROJECT } from '../harness.ts';

const DOCUMENT = readFileSync(join(PROJECT, 'docs', 'wire-protocol.md'), 'utf8');
const OPTIONS = {
  lispFolder: join(PROJECT, 'lisp'),
  cacheFolder: cacheFolder(),
  root: PROJECT,
  heapMb: 1024,
  searchTree: false,
};
const child = new Child(
  findSbcl(undefined),
  agentArguments(OPTIONS, true),
  PROJECT,
  agentEnvironment(OPTIONS),
);
afterAll(() => child.kill('the test ended'));

/** The examples: each request with its answer. */
const EXAMPLES = [...DOCUMENT.matchAll(/^→ (.*)\n← (.*)$/gm)].map(
  ([, request = '', answer = '']) => [request, answer] as const,
);

/** Replaces in EXPECTED each "..." by what ACTUAL has there. */
function filled(expected: unknown, actual: unknown): unknown {
  if (expected === '...') return actual;
  if (Array.isArray(expected))
    return expected.map((each, index) => filled(each, (actual as unknown[])?.[index]));
  if (typeof expected !== 'object' || expected === null) return expected;
  return Object.fromEntries(
    Object.entries(expected).map(([key, value]) => [key, filled(value, (actual as Message)?.[key])]),
  );
}

test('the document has examples of every operation that the agent offers', async () => {
  const names = readFileSync(join(PROJECT, 'lisp', 'operations.lisp'), 'utf8');
  const all = ['apropos', 'describe', 'evaluate', 'xref', 'load']
    .map((name) => (name === 'apropos' ? 'symbols' : name))
    .map((name) => readFileSync(join(PROJECT, 'lisp', `${name}.lisp`), 'utf8'))
    .concat(names)
    .flatMap((text) => [...text.matchAll(/^\(define-operation \(?"([^"]+)"/gm)].map(([, name]) => name));
  expect(all.length).toBeGreaterThan(8);
  for (const name of all) expect(DOCUMENT).toContain(`\`${name}\``);
});

test('the agent greets as documented', async () => {
  const [, greeting = ''] = /^← (\{"hello".*)$/m.exec(DOCUMENT) ?? [];
  const { without } = await child.greeting;
  expect(JSON.parse(greeting)).toEqual({ hello: PROTOCOL_VERSION });
  // Not every SBCL is built to keep those.
  expect(without.filter((ability) => ability !== 'cross-references to CL')).toEqual([]);
});

test.each(EXAMPLES)('%s', async (request, expected) => {
  await child.greeting;
  const { id, op, args } = JSON.parse(request) as { id: number; op: string; args: object };
  const answer = await child.request(op, args).answer;
  const { id: _, ...members } = answer;
  const { id: expectedId, ...expectedMembers } = filled(JSON.parse(expected), answer) as Message;
  expect(expectedId).toBe(id);
  expect(members).toEqual(expectedMembers);
});
