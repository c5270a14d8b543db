// Random frames to the real backend: each request that has an id gets one answer, and no other harm comes of it.

import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { anyText } from '../any-text.ts';
import { startRawBackend } from '../image/raw-backend.ts';
import { cases, PATIENCE_MS } from '../long.ts';

const backend = startRawBackend();
afterAll(() => backend.end());

let lastId = 0;

/** Sends the request for OP with ARGS and returns its answer. */
function ask(op: string, args: object) {
  const id = ++lastId;
  backend.send(id, op, args);
  return backend.take(`the answer of ${op}`, (message) => message['id'] === id);
}

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
  anyText(),
);

test(
  'any arguments get one answer, and the backend lives on',
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
          await Promise.all(requests.map(([op, args]) => ask(op, args)));
          expect(await ask('ping', {})).toMatchObject({ value: true });
        },
      ),
      cases(20),
    );
  },
  PATIENCE_MS,
);
