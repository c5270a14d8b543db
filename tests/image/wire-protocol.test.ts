import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { collectionPoll } from '../../src/image/process/collecting.ts';
import { type Message, PROTOCOL_VERSION } from '../../src/image/wire/frames.ts';
import { readMessage } from '../../src/image/wire/messages.ts';
import { answerProblem, readDeclared } from '../declared.ts';
import { PROJECT } from '../harness.ts';
import { until } from '../server/processes.ts';
import { startRawBackend } from './raw-backend.ts';

const DOCUMENT = readFileSync(join(PROJECT, 'docs', 'develop', 'wire-protocol.md'), 'utf8');
const declared = readDeclared(join(PROJECT, 'dist-tests'));
const backend = startRawBackend();
afterAll(() => backend.end());

/** The examples: each request with what the backend says until the next one. */
const EXAMPLES = [...DOCUMENT.matchAll(/^→ (.*)\n((?:← .*\n)+)/gm)].map(
  ([, request = '', said = '']) =>
    [request, [...said.matchAll(/^← (.*)$/gm)].map(([, line = '']) => line)] as const,
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

/** True when the SBCL of the tests records no calls of functions of CL. Answers about callers then say so. */
let callsUnrecorded = false;

/** Adds to EXPECTED, an answer in the document, the member that an answer about callers has when calls are unrecorded. */
function withUnrecorded(expected: Message): Message {
  const value = expected['value'] as Message | undefined;
  if (!callsUnrecorded || value?.['findingCount'] === undefined) return expected;
  return { ...expected, value: { ...value, findingUnrecorded: true } };
}

test('the document has examples of every operation that the backend offers', async () => {
  const folder = join(PROJECT, 'lisp');
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.lisp'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .flatMap((text) => [...text.matchAll(/^\(define-operation \(?"([^"]+)"/gm)].map(([, name]) => name));
  expect(all.length).toBeGreaterThan(14);
  for (const name of all) expect(DOCUMENT).toContain(`\`${name}\``);
});

test('the backend greets as documented', async () => {
  const [, greeting = ''] = /^← (\{"hello".*)$/m.exec(DOCUMENT) ?? [];
  expect(JSON.parse(greeting)).toEqual({ hello: PROTOCOL_VERSION, collector: '...' });
  const hello = readMessage(await backend.take('the greeting', (message) => 'hello' in message));
  if (hello.kind !== 'hello') throw new Error(`It greeted as ${hello.kind}.`);
  const collecting = collectionPoll(backend.pid, hello.collector);
  expect(collecting()).toBe(true);
  // What the backend does behind its greeting can collect garbage.
  await until('that no garbage is collected', 60_000, () => collecting() === false);
  // Not every SBCL is built to keep those.
  callsUnrecorded = hello.without.includes('cross-references to CL');
  expect(hello.without.filter((ability) => ability !== 'cross-references to CL')).toEqual([]);
});

test.each(EXAMPLES)('%s', async (request, lines) => {
  const { id, op, args } = JSON.parse(request) as { id: number; op: string; args: object };
  backend.send(id, op, args);
  for (const line of lines) {
    const expected = withUnrecorded(JSON.parse(line) as Message);
    // Messages of one kind come in the order of the document; an answer can come behind later requests.
    const kind = ['call', 'built', 'replaying', 'features'].find((member) => member in expected);
    const said = await backend.take(line, (message) =>
      kind === undefined
        ? message['id'] === expected['id']
        : kind in message && message['job'] === expected['job'],
    );
    expect(said).toEqual(filled(expected, said));
    if (kind === undefined && !('fault' in said) && said['id'] === id) {
      const { id: _, ...members } = said;
      expect(answerProblem(op, members, declared)).toBeUndefined();
    }
  }
});
