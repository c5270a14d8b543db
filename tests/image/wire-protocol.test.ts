import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { agentCommand, cacheFolder } from '../../src/image/process/agent.ts';
import { Child } from '../../src/image/process/child.ts';
import { findSbcl } from '../../src/image/process/sbcl.ts';
import { type Message, PROTOCOL_VERSION } from '../../src/image/wire/frames.ts';
import { CodeCalls } from '../../src/image/wire/upcalls.ts';
import { PROJECT } from '../harness.ts';
import { until } from '../server/processes.ts';

const DOCUMENT = readFileSync(join(PROJECT, 'docs', 'wire-protocol.md'), 'utf8');
const OPTIONS = {
  lispFolder: join(PROJECT, 'lisp'),
  cacheFolder: cacheFolder(),
  root: PROJECT,
  heapMb: 1024,
  searchTree: false,
};
/** What the agent said about tools that code calls; the examples answer instead of the server. */
const calls: Message[] = [];
vi.spyOn(CodeCalls.prototype, 'take').mockImplementation((message) => {
  calls.push(message);
});
/** What it said about what built the image, and what it builds again. */
const told: Message[] = [];
const child = new Child(agentCommand(findSbcl(undefined), OPTIONS, true), PROJECT, () => ({
  tell: (message) => told.push(message),
}));
afterAll(() => child.kill('the test ended'));

/** The examples: each request with what the agent says until the next one. */
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

test('the document has examples of every operation that the agent offers', async () => {
  const folder = join(PROJECT, 'lisp');
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.lisp'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .flatMap((text) => [...text.matchAll(/^\(define-operation \(?"([^"]+)"/gm)].map(([, name]) => name));
  expect(all.length).toBeGreaterThan(14);
  for (const name of all) expect(DOCUMENT).toContain(`\`${name}\``);
});

test('the agent greets as documented', async () => {
  const [, greeting = ''] = /^← (\{"hello".*)$/m.exec(DOCUMENT) ?? [];
  const { without } = await child.greeting;
  expect(JSON.parse(greeting)).toEqual({ hello: PROTOCOL_VERSION, collector: '...' });
  const collecting = child.collector();
  expect([collecting(), collecting()]).toEqual([true, false]);
  // Not every SBCL is built to keep those.
  expect(without.filter((ability) => ability !== 'cross-references to CL')).toEqual([]);
});

/** The answers of the requests, by id: one can come after later requests. */
const answers = new Map<unknown, Promise<Message>>();

test.each(EXAMPLES)('%s', async (request, lines) => {
  await child.greeting;
  const sent = JSON.parse(request) as { id: number; op: string; args: object };
  const { id, answer } = child.request(sent.op, sent.args);
  expect(id).toBe(sent.id);
  answers.set(id, answer);
  // What examples before this one built is shown by none of them.
  told.splice(0);
  for (const line of lines) {
    const expected = JSON.parse(line) as Message;
    const said =
      'call' in expected
        ? await until('a call', 5000, () => calls.shift())
        : 'job' in expected
          ? await until('what it tells', 5000, () => told.shift())
          : await answers.get(expected['id']);
    expect(said).toEqual(filled(expected, said));
  }
});
