// MCP over HTTP: what clients of both eras can do, and what comes of requests that should not be.

import { statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ERAS, type Era, NO_SYSTEMS } from '../harness.ts';
import { sharedFolder } from '../shared.ts';
import {
  type HttpAnswer,
  type HttpClient,
  type HttpClientOptions,
  HttpServer,
  jsonOf,
} from './http-server.ts';
import { childrenOf, gone, imagesOf, until } from './processes.ts';

const workspace = sharedFolder();
let server: HttpServer;
beforeAll(async () => {
  server = await new HttpServer(['--root', workspace.path]).listening();
});
afterAll(() => server.end());

async function ownClient(era: Era, options: HttpClientOptions = {}, of = server): Promise<HttpClient> {
  const client = await of.client(era, options);
  onTestFinished(() => client.close());
  return client;
}

/** Returns the request METHOD of the modern era, with the headers that it needs. */
function modern(method: string, params: object = {}): { message: object; headers: Record<string, string> } {
  const version = '2026-07-28';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = { 'mcp-protocol-version': version, 'mcp-method': method };
  return { message: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, headers };
}

/** Returns the call of eval_form with FORM, for a session of the legacy era. */
function evaluation(id: unknown, form: string): object {
  // What waits for a test has the time that the test needs.
  const params = { name: 'eval_form', arguments: { form, timeout: 600 } };
  return { jsonrpc: '2.0', id, method: 'tools/call', params };
}

function textIn(answer: HttpAnswer): string {
  const { result } = jsonOf(answer) as { result?: { content: { text: string }[] } };
  return result?.content[0]?.text ?? answer.text;
}

describe.each(ERAS)('a client of the %s era', (era) => {
  test('calls tools', async () => {
    const client = await ownClient(era);
    expect(client.getProtocolEra()).toBe(era);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('eval_form');
    expect(await client.eval('(+ 1 2)')).toBe('3');
  });

  test('shares the image with others, and comes back to it', async () => {
    const first = await server.client(era);
    await first.eval(`(defparameter *left-${era}* '(:kept))`);
    await first.close();
    const second = await ownClient(era);
    expect(await second.eval(`*left-${era}*`)).toBe('(:KEPT)');
  });

  test('gets the progress of a call', async () => {
    const client = await ownClient(era);
    const heard: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => {
      heard.push(progress);
      workspace.put(`heard-${era}`, '');
    };
    await client.eval(`(loop until (probe-file "heard-${era}") do (sleep 0.01))`, { onprogress });
    expect(heard).toEqual([...new Set(heard)].sort((one, other) => one - other));
  });

  test('hears that the list of tools has changed', async () => {
    const client = await ownClient(era);
    let heard = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      heard += 1;
    });
    if (era === 'modern') await client.listen({ toolsListChanged: true });
    await client.eval(
      `(live-lisp:register-tool live-lisp:*agent-q-registry*
         (live-lisp:define-tool "made_${era}" "Says one." '() :safety-level :safe :handler (lambda (arguments) arguments 1)))`,
    );
    await until('the notification', 30_000, () => heard > 0);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain(`made_${era}`);
  });

  test('asks its human, once a call', async () => {
    const questions: string[] = [];
    const client = await ownClient(era, {
      onQuestion: ({ message, requestedSchema }) => {
        questions.push(JSON.stringify([message, requestedSchema]));
        return { action: 'accept', content: { decision: 'approve' } };
      },
    });
    const path = `written-${era}.lisp`;
    await client.text('write_file', { path, content: '1\n' });
    expect(questions).toHaveLength(1);
    // Other clients have the token too, so an approval is not for their calls.
    expect(questions[0]).not.toContain('session');
    expect(statSync(`${workspace.path}/${path}`).size).toBe(2);
  });

  test('cancels a call', async () => {
    const client = await ownClient(era);
    const cancel = new AbortController();
    const call = client.eval(`(progn (defvar *runs-${era}* t) (loop))`, { signal: cancel.signal });
    const other = await ownClient(era);
    await until(
      'the form being evaluated',
      30_000,
      async () => (await other.eval(`(boundp '*runs-${era}*)`)) === 'T',
    );
    cancel.abort();
    await expect(call).rejects.toThrow();
    expect(await other.eval('(list 1)')).toBe('(1)');
  });
});

test('a call that a client does not wait for goes on, and its answer is there when the client comes back', async () => {
  const session = await server.session();
  const left = new AbortController();
  const headers = {
    authorization: `Bearer ${server.token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-session-id': session,
    'mcp-protocol-version': '2025-11-25',
  };
  const body = JSON.stringify(evaluation(7, '(loop until (probe-file "come-back") do (sleep 0.01))'));
  const answer = await fetch(server.url, { method: 'POST', headers, body, signal: left.signal });
  const first = await answer.body?.getReader().read();
  const [, event = ''] = /^id: (.*)$/m.exec(Buffer.from(first?.value ?? []).toString()) ?? [];
  left.abort();
  workspace.put('come-back', '');
  const back = await until('the answer', 30_000, async () => {
    const again = await server.send({
      method: 'GET',
      headers: { 'mcp-session-id': session, 'last-event-id': event },
    });
    return again.text.includes('"id":7') && again;
  });
  expect(textIn(back)).toBe('NIL');
});

describe('a request is refused', () => {
  const ask = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const NO_TOKEN =
    'This request lacks the token of this server. Send the header Authorization: Bearer TOKEN, with the token from the file that the server named at its start.\n';

  test.each([
    ['none', undefined],
    ['another token', 'Bearer 0123456789abcdef0123456789abcdef'],
  ])('without the token: %s', async (_, authorization) => {
    const answer = await server.post(ask, { authorization });
    expect([answer.status, answer.headers['www-authenticate'], answer.text]).toEqual([
      401,
      'Bearer',
      NO_TOKEN,
    ]);
  });

  test('with the token in its URL', async () => {
    const answer = await server.send({
      path: `/mcp?token=${server.token}`,
      body: JSON.stringify(ask),
      headers: { authorization: undefined },
    });
    expect([answer.status, answer.text]).toEqual([401, NO_TOKEN]);
  });

  test('for another machine', async () => {
    const answer = await server.post(ask, { host: 'localhost.evil.example:80' });
    expect([answer.status, answer.text]).toEqual([
      403,
      'The header Host names another machine. Use an address, localhost, or the name at which this server listens.\n',
    ]);
  });

  test.each(['http://localhost:1', 'null'])('of a page of %s', async (origin) => {
    const answer = await server.post(ask, { origin });
    expect([answer.status, answer.text]).toEqual([
      403,
      'The header Origin names another site. Only a page of this server may send requests from a browser.\n',
    ]);
  });

  test('for another path', async () => {
    const answer = await server.send({ path: '/.well-known/oauth-protected-resource', method: 'GET' });
    expect([answer.status, answer.text]).toEqual([404, 'There is nothing here. MCP is at /mcp.\n']);
  });

  test.each(['GET', 'DELETE'])('by %s, without a session', async (method) => {
    expect((await server.send({ method })).status).toBe(405);
  });

  test.each(['HEAD', 'PUT'])('by %s, also with a session', async (method) => {
    const headers = { 'mcp-session-id': await server.session() };
    const answer = await server.send({ method, headers });
    expect([answer.status, answer.headers.allow, answer.text]).toEqual([
      405,
      'GET, POST, DELETE',
      method === 'HEAD' ? '' : 'MCP uses GET, POST, DELETE only.\n',
    ]);
    expect(server.stderr).toBe('');
  });

  test('as a batch of more than 100 messages', async () => {
    const messages = Array.from({ length: 90_000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    const headers = { 'mcp-session-id': await server.session() };
    const answer = await server.post(messages, headers);
    expect([answer.status, jsonOf(answer).error]).toEqual([
      400,
      {
        code: -32600,
        message: 'The batch has more than 100 messages, so nothing was done. Send them in several requests.',
      },
    ]);
    expect((await server.post(messages.slice(0, 100), headers)).status).toBe(200);
  });

  test('by GET with what a POST would do, and nothing is done', async () => {
    const { message, headers } = modern('tools/call', {
      name: 'eval_form',
      arguments: { form: '(defvar *by-get* t)' },
    });
    const answer = await server.send({
      method: 'GET',
      headers: { ...headers, 'mcp-name': 'eval_form' },
      body: JSON.stringify(message),
    });
    expect(answer.status).toBe(405);
    expect(await (await ownClient('modern')).eval("(boundp '*by-get*)")).toBe('NIL');
  });

  test.each(['text/plain', undefined])('of the type %s, which a form of a page can send', async (type) => {
    const answer = await server.post(ask, { 'content-type': type });
    expect(jsonOf(answer).error?.message).toBe('The header Content-Type must be application/json.');
    expect(answer.status).toBe(415);
  });

  test.each([true, false])('of 20 MB, with its length %s', async (named) => {
    const body = Buffer.alloc(20 * 1024 * 1024, ' ');
    const headers = named ? {} : { 'content-length': undefined };
    const answer = await server.send({ body, headers });
    expect([answer.status, jsonOf(answer).error?.message]).toEqual([
      413,
      'The request has more than 4194304 octets, so nothing was done. Put long texts into files, and give their paths.',
    ]);
  });

  test.each([1001, 600_000])('that is nested %i levels deep', async (levels) => {
    const form = `${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"eval_form","arguments":{"form":${form}}}}`;
    const answer = await server.send({ body });
    expect([answer.status, jsonOf(answer).error]).toEqual([
      400,
      {
        code: -32600,
        message:
          'The request is nested more than 1000 levels deep, so nothing was done. Nest its arguments less.',
      },
    ]);
  });

  test.each(['{', '\u0000', ''])('as no JSON: %j', async (body) => {
    const answer = await server.send({ body });
    expect([answer.status, jsonOf(answer).error]).toEqual([
      400,
      {
        code: -32700,
        message: 'The request is not JSON, so nothing was done. Correct it and send it again.',
      },
    ]);
  });

  test('without a session in the legacy era', async () => {
    const answer = await server.post(ask);
    expect([answer.status, jsonOf(answer).error]).toEqual([
      400,
      { code: -32000, message: 'This request has no Mcp-Session-Id. Send initialize first.' },
    ]);
  });

  test('of a session that is none, or has ended', async () => {
    const session = await server.session();
    expect((await server.send({ method: 'DELETE', headers: { 'mcp-session-id': session } })).status).toBe(
      200,
    );
    for (const id of [session, '00000000-0000-4000-8000-000000000000', '../../etc/passwd']) {
      const answer = await server.post(ask, { 'mcp-session-id': id });
      expect([answer.status, jsonOf(answer).error]).toEqual([
        404,
        { code: -32001, message: 'There is no such session, or it has ended. Send initialize anew.' },
      ]);
    }
  });

  test('under the id of one that runs, and both clients get their own answers', async () => {
    const session = { 'mcp-session-id': await server.session() };
    const form = '(progn (defvar *first-runs* t) (loop until (probe-file "both") do (sleep 0.01)) :first)';
    const first = server.post(evaluation('same', form), session);
    const other = await ownClient('modern');
    await until('the first', 30_000, async () => (await other.eval("(boundp '*first-runs*)")) === 'T');
    const second = await server.post(evaluation('same', ':second'), session);
    workspace.put('both', '');
    expect([second.status, jsonOf(second).error?.message]).toEqual([
      400,
      'Invalid request: a request with the id "same" is not answered yet, so nothing was done. Send this one with another id.',
    ]);
    expect(textIn(await first)).toBe(':FIRST');
  });

  test('with two lengths, and a line break in a header is not sent back', async () => {
    const at = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n`;
    const { all } = server.opened(`${at}Authorization: Bearer ${server.token}\r\n\r\n`);
    expect(await all).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
    const answer = await server.post(ask, { 'mcp-session-id': 'a%0d%0aSet-Cookie: x=y' });
    expect([answer.status, answer.headers['set-cookie']]).toEqual([404, undefined]);
  });
});

test('the connection ends behind a stream when the client asks for that', async () => {
  const session = await server.session();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const head = [
    'POST /mcp HTTP/1.1',
    'Host: localhost',
    'Connection: close',
    `Authorization: Bearer ${server.token}`,
    'Accept: application/json, text/event-stream',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `Mcp-Session-Id: ${session}`,
  ];
  const text = await server.opened(`${head.join('\r\n')}\r\n\r\n${body}`).all;
  expect(text).toMatch(/\r\nConnection: close\r\n/i);
  expect(text).toContain('"result":{}');
});

test('each request of a batch is answered', async () => {
  const headers = { 'mcp-session-id': await server.session() };
  const answer = await server.post([evaluation(1, '1'), evaluation(2, '2')], headers);
  const ids = [...answer.text.matchAll(/"id":(\d)/g)].map(([, id]) => id);
  expect(ids.sort()).toEqual(['1', '2']);
});

test('a call of a page of this server is taken, and arguments that are null are none', async () => {
  const { message, headers } = modern('tools/call', { name: 'image_status', arguments: null });
  const origin = `http://${server.url.host}`;
  const answer = await server.post(message, { ...headers, 'mcp-name': 'image_status', origin });
  expect(jsonOf(answer).error).toBeUndefined();
});

test('code in the sandbox cannot read the token', async () => {
  const client = await ownClient('modern');
  const [, file = ''] = /Its token is in (\S+)\.\n/.exec(server.stdout) ?? [];
  expect(await client.eval(`(probe-file "${file}")`)).toBe('NIL');
  expect(await client.text('read_file', { path: file })).not.toContain(server.token);
});

test('a session that is not used makes room for a new one', async () => {
  const first = await server.session();
  const kept = await server.session();
  for (let count = 0; count < 99; count++) {
    await server.session();
    await server.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, { 'mcp-session-id': kept });
  }
  const ask = { jsonrpc: '2.0', id: 1, method: 'ping' };
  expect((await server.post(ask, { 'mcp-session-id': first })).status).toBe(404);
  expect((await server.post(ask, { 'mcp-session-id': kept })).status).toBe(200);
});

test('a session takes nothing of another one', async () => {
  const [own, other] = [await server.session(), await server.session()];
  const headers = { 'mcp-session-id': own, 'mcp-protocol-version': '2025-11-25' };
  const form = '(progn (defvar *own-runs* t) (loop until (probe-file "own-ends") do (sleep 0.01)) :own)';
  const call = server.post(evaluation('own', form), headers);
  const client = await ownClient('modern');
  await until('the call', 30_000, async () => (await client.eval("(boundp '*own-runs*)")) === 'T');
  const params = { requestId: 'own' };
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params };
  expect((await server.post(cancel, { 'mcp-session-id': other })).status).toBe(202);
  workspace.put('own-ends', '');
  const answer = await call;
  expect(textIn(answer)).toBe(':OWN');
  const [, event = ''] = /^id: (.*)$/m.exec(answer.text) ?? [];
  const comeBack = (session: string) =>
    server.send({ method: 'GET', headers: { 'mcp-session-id': session, 'last-event-id': event } });
  expect((await comeBack(other)).text).toBe('');
  expect(textIn(await comeBack(own))).toBe(':OWN');
});

test('a further session is refused while all have running calls', async () => {
  const own = await new HttpServer(['--root', workspace.path]).listening();
  onTestFinished(async () => void (await own.end()));
  const form = '(loop until (probe-file "all-end") do (sleep 0.1))';
  const calls: Promise<HttpAnswer>[] = [];
  for (let count = 0; count < 100; count++) {
    const headers = { 'mcp-session-id': await own.session() };
    const begun = new Promise<void>((resolve) => calls.push(own.post(evaluation(1, form), headers, resolve)));
    await begun;
  }
  const clientInfo = { name: 'raw', version: '1.0.0' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const begin = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  const refused = await own.post(begin);
  expect([refused.status, jsonOf(refused).error]).toEqual([
    503,
    {
      code: -32001,
      message: '100 sessions are in use, and this server takes no more. End one of them, and try again.',
    },
  ]);
  workspace.put('all-end', '');
  for (const answer of await Promise.all(calls)) expect(textIn(answer)).toBe('NIL');
  expect((await own.post(begin)).status).toBe(200);
});

test('a second server at the same port says why it ends', async () => {
  const { port } = server.url;
  const second = new HttpServer([...NO_SYSTEMS, '--http', port]);
  expect(await second.exited).toBe(1);
  // What a process has written can be read after its end is known.
  await until('its complaint', 60_000, () => second.stderr.endsWith('\n'));
  expect(second.stderr).toBe(
    `live-lisp: Another program listens at 127.0.0.1:${port}. Give another port, or end that program.\n`,
  );
});

test.each(ERAS)('in the %s era, SIGTERM ends calls with an answer, the image and the server', async (era) => {
  // An image needs time to interrupt a call.
  const own = await new HttpServer(NO_SYSTEMS, {}, { image: { cleanup: 60_000 } }).listening();
  onTestFinished(async () => void (await own.end()));
  const client = await ownClient(era, {}, own);
  await client.eval('1');
  const [image = -1] = imagesOf(own.pid);
  const children = childrenOf(own.pid);
  const call = client.eval('(progn (defvar *runs* t) (loop))');
  const other = await ownClient(era, {}, own);
  await until('the form', 30_000, async () => (await other.eval("(boundp '*runs*)")) === 'T');
  const [text, code] = await Promise.all([call, own.end('SIGTERM')]);
  expect(text).toContain('server');
  expect(code).toBe(0);
  for (const child of [image, ...children]) await gone(child, 60_000);
  expect(own.stderr).toBe('');
});
