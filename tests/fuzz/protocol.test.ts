// Random messages to the built server: each request that is one gets exactly one answer, and the server and its
// image live on.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERAS, type Era } from '../harness.ts';
import { cases, PATIENCE_MS } from '../long.ts';
import { imagesOf, until } from '../server/processes.ts';
import { RawServer } from '../server/raw.ts';
import { line, params } from './messages.ts';

describe.each(ERAS)('in the %s era', (era: Era) => {
  let server: RawServer;
  let image: number[];
  beforeAll(async () => {
    server = await new RawServer({ era }).connect();
    await server.eval('(defvar *before* :kept)');
    image = imagesOf(server.pid);
  });
  afterAll(async () => {
    expect(await server.eval('*before*')).toBe(':KEPT');
    expect(imagesOf(server.pid)).toEqual(image);
    await server.kill();
  });

  test(
    'anything is passed over or answered, and the next request works',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 8 }), async (lines) => {
          for (const each of lines) server.write(Buffer.concat([each, Buffer.from('\n')]));
          const ping = server.request('tools/list');
          server.write(ping.line);
          const answer = await server.answer(ping.id);
          // A second initialize can change what the server takes the client for, not that it answers.
          expect(answer.result ?? answer.error).toBeDefined();
          server.messages.length = 0;
        }),
        cases(15),
      );
    },
    PATIENCE_MS,
  );

  test('a request whose parts are wrong is answered', async () => {
    server.write('{"jsonrpc":"2.0","id":"wrong","method":"tools/list","params":{"_meta":5}}\n');
    expect((await server.answer('wrong')).error).toEqual({
      code: -32600,
      message:
        'Invalid request: it does not have the form that MCP requires, so nothing was done. Correct it and send it again.',
    });
  });

  test(
    'each request with an id of its own gets exactly one answer',
    async () => {
      let next = 1_000_000;
      await fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({
              method: fc.constantFrom('ping', 'tools/list', 'tools/call', 'no/such'),
              params,
              text: fc.boolean(),
            }),
            {
              minLength: 1,
              maxLength: 6,
            },
          ),
          async (requests) => {
            const ids = requests.map(({ text }) => (text ? `id ${next++}` : next++));
            server.messages.length = 0;
            requests.forEach(({ method, params: given }, index) => {
              const { line: good } = server.request(
                method,
                typeof given === 'object' && given !== null && !Array.isArray(given) ? given : {},
              );
              server.write(`${JSON.stringify({ ...JSON.parse(good), id: ids[index] })}\n`);
            });
            await until('all answers', 30_000, () =>
              ids.every((each) => server.messages.some((reply) => reply.id === each)),
            );
            await server.answer((await server.send(server.request('ping'))).id ?? -1);
            for (const each of ids)
              expect(server.messages.filter((reply) => reply.id === each)).toHaveLength(1);
          },
        ),
        cases(10),
      );
    },
    PATIENCE_MS,
  );
});
