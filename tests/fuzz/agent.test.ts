// Random frames to the real agent: each request that has an id gets one answer, and no other harm comes of it.

import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentCommand, cacheFolder } from '../../src/image/process/agent.ts';
import { Child } from '../../src/image/process/child.ts';
import { findSbcl } from '../../src/image/process/sbcl.ts';
import { PROJECT } from '../harness.ts';
import { cases, PATIENCE_MS } from '../long.ts';

const OPTIONS = {
  lispFolder: join(PROJECT, 'lisp'),
  cacheFolder: cacheFolder(),
  root: PROJECT,
  heapMb: 512,
  searchTree: false,
};

let agent: Child;
beforeAll(async () => {
  agent = new Child(agentCommand(findSbcl(undefined), OPTIONS, true), PROJECT);
  await agent.greeting;
});
afterAll(() => agent.kill('the test ended'));

const OPERATIONS =
  'ping apropos describe who-calls who-references arglist packages class-slots class-hierarchy last-error progress interrupt terminate called no-such-operation'.split(
    ' ',
  );
const KEYS =
  'name package pattern type limit offset index job reason call value failure symbol inherited sites external'.split(
    ' ',
  );
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom('car', 'CL', 'nowhere', 'nil', '', 0, -1, 1e300, 1.5),
  fc.string({ unit: 'binary' }),
);

test(
  'any arguments get one answer, and the agent lives on',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.constantFrom(...OPERATIONS),
            fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 4 }),
          ),
          { maxLength: 6 },
        ),
        async (requests) => {
          const answers = requests.map(([op, args]) => agent.request(op, args).answer);
          for (const answer of await Promise.all(answers)) expect(answer).not.toHaveProperty('lost');
          expect(await agent.request('ping', {}).answer).toMatchObject({ value: true });
        },
      ),
      cases(120),
    );
  },
  PATIENCE_MS,
);
