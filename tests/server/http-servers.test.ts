// The HTTP endpoint without a process of its own: which servers it makes, and what it answers at its end.

import { once } from 'node:events';
import { connect } from 'node:net';
import { Server } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { type ListenOptions, listen } from '../../src/http/listen.ts';
import { Approvals } from '../../src/server/approvals.ts';
import { Endpoint } from '../../src/server/http.ts';
import { HttpSessions } from '../../src/server/http-sessions.ts';
import { PreviewFiles } from '../../src/server/preview-files.ts';
import { announceChanges, createServer, type ServerOptions } from '../../src/server/server.ts';
import { assembleServed } from '../../src/several-images.ts';
import { ownFolder } from '../shared.ts';
import { until } from './processes.ts';

const clientInfo = { name: 'raw', version: '1.0.0' };
const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };

test.each([
  ['without a header Accept', 406, params, {}],
  ['without its parameters', 400, {}, { accept: 'application/json, text/event-stream' }],
])('an initialize %s leaves no server', async (_, status, given, accept) => {
  let closed = 0;
  const sessions = new HttpSessions(() => {
    const server = new Server({ name: 'live-lisp', version: '1.0.0' }, { capabilities: {} });
    server.onclose = () => {
      closed += 1;
    };
    return server;
  });
  const headers = { 'content-type': 'application/json', ...accept };
  const request = new Request('http://localhost/mcp', { method: 'POST', headers });
  const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params: given };
  expect((await sessions.answer(request, body)).status).toBe(status);
  expect(closed).toBe(1);
});

/** Returns the parts of a server whose image is not started. */
function parts(): ServerOptions {
  const config = readConfig(['--root', ownFolder().path], {});
  const { questions, editors, ...served } = assembleServed(config, {});
  const files = new PreviewFiles(config.previews, config.answerSeconds);
  const approvals = new Approvals({ questions, files, editors, allowsSessionApproval: false });
  return { ...served, editors, approvals, list: config.list, version: '1.0.0', started: async () => {} };
}

test('a server for one request adds no listener to the tools', () => {
  const { registry, ...others } = parts();
  let listeners = 0;
  const counted = {
    getTool: (name: string) => registry.getTool(name),
    unknownTool: (name: string) => registry.unknownTool(name),
    onChange: (listener: () => void) => {
      listeners += 1;
      return registry.onChange(listener);
    },
  };
  const options = { ...others, registry: counted };
  createServer(
    options,
    announceChanges(options, async () => {}),
  );
  expect(listeners).toBe(1);
});

test('a request whose body arrives while the server ends is refused', async () => {
  const token = 'x'.repeat(32);
  const endpoint = new Endpoint({ ...parts(), token });
  let requests = 0;
  const handle: ListenOptions['handle'] = (request, response) => {
    requests += 1;
    return endpoint.handle(request, response);
  };
  const listener = await listen({ host: '127.0.0.1', port: 0, handle, complain: () => {} });
  onTestFinished(() => listener.end(0));
  const socket = connect(Number(new URL(listener.origin).port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const head = [
    'POST /mcp HTTP/1.1',
    'Host: localhost',
    'Connection: close',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Content-Length: 2',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n{`);
  await until('the request', 30_000, () => requests === 1);
  endpoint.refuseFurther();
  socket.write('}');
  await once(socket, 'close');
  expect(text).toMatch(/^HTTP\/1.1 503 [\s\S]*\r\n\r\nThis server ends\. Start it again\.\n$/);
});
