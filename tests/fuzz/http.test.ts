// Random requests over HTTP: each gets one answer, which is no failure of the server, and the server and its image live on.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cases, PATIENCE_MS } from '../long.ts';
import { HttpServer, jsonOf } from '../server/http-server.ts';
import { imagesOf } from '../server/processes.ts';
import { line } from './messages.ts';

let server: HttpServer;
let session: string;
let image: number[];
beforeAll(async () => {
  server = await new HttpServer().listening();
  session = await server.session();
  const client = await server.client('modern');
  await client.eval('(defvar *before* :kept)');
  await client.close();
  image = imagesOf(server.pid);
});
afterAll(async () => {
  const client = await server.client('legacy');
  expect(await client.eval('*before*')).toBe(':KEPT');
  expect(imagesOf(server.pid)).toEqual(image);
  expect(server.stderr).toBe('');
  await server.end();
});

const name = fc.constantFrom(
  'mcp-session-id',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'last-event-id',
  'accept',
  'content-type',
  'origin',
  'x-y',
);
const value = fc.oneof(
  fc.stringMatching(/^[ -~]{0,30}$/),
  fc.constantFrom('2026-07-28', '2025-11-25', 'tools/call', 'tools/list', 'eval_form', 'application/json'),
);

test(
  'anything is answered, and the next request works',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        line,
        fc.dictionary(name, value),
        fc.constantFrom('POST', 'POST', 'POST', 'GET', 'PUT', 'OPTIONS', 'HEAD'),
        fc.boolean(),
        async (body, headers, method, ofSession) => {
          const of = ofSession ? { 'mcp-session-id': session } : {};
          const answer = await server.begun({ method, body, headers: { ...headers, ...of } });
          expect(answer).toBeGreaterThanOrEqual(200);
          expect(answer).toBeLessThan(500);
          const ask = { jsonrpc: '2.0', id: 'after', method: 'tools/list' };
          const next = await server.post(ask, { 'mcp-session-id': session });
          expect(jsonOf(next).id).toBe('after');
        },
      ),
      cases(30),
    );
  },
  PATIENCE_MS,
);
