// MCP's official conformance suite against the built server over HTTP. It expects tools, resources and prompts of its own:
// fixtures/conformance.lisp has those that a server of tools alone can have, and the scenarios of the others fail.

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FIXTURES, NO_SYSTEMS } from '../harness.ts';
import { sharedFolder } from '../shared.ts';
import { HttpServer } from './http-server.ts';

/** The suite needs a newer Node than this project. */
const SUITE =
  '-y -p node@24.21.0 -p @modelcontextprotocol/conformance@0.2.0-alpha.12 conformance server'.split(' ');

const results = sharedFolder();
let server: HttpServer;
let proxy: Server;
beforeAll(async () => {
  server = await new HttpServer([...NO_SYSTEMS, '--init', join(FIXTURES, 'conformance.lisp')]).listening();
  proxy = await withToken(server);
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await server.end();
});

/** The suite sends no token, so requests go through a server that adds it. */
async function withToken({ url, token }: HttpServer): Promise<Server> {
  const adding = createServer((from, to) => {
    const headers = { ...from.headers, authorization: `Bearer ${token}` };
    const { hostname, port } = url;
    const sent = request({ hostname, port, path: from.url, method: from.method, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(to);
    });
    sent.on('error', () => to.destroy());
    to.on('close', () => sent.destroy());
    from.pipe(sent);
  });
  await new Promise<void>((resolve) => adding.listen(0, '127.0.0.1', resolve));
  return adding;
}

interface Check {
  id: string;
  status: string;
}

/** Runs the scenarios that REVISION requires. Resolves with the checks that failed, by scenario. */
async function failuresOf(revision: string): Promise<Map<string, string[]>> {
  const folder = join(results.path, revision);
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
  const words = [...SUITE, '--url', url, '--requirements', revision, '-o', folder];
  // It exits with an error when a scenario fails.
  await new Promise<void>((resolve) => execFile('npx', words, () => resolve()));
  return new Map(
    readdirSync(folder).map((name) => {
      const checks = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as Check[];
      const [, scenario = name] = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(name) ?? [];
      return [scenario, checks.filter(({ status }) => status === 'FAILURE').map(({ id }) => id)];
    }),
  );
}

function passed(failures: ReadonlyMap<string, string[]>): string[] {
  return [...failures].flatMap(([scenario, failed]) => (failed.length === 0 ? [scenario] : [])).sort();
}

test('2025-11-25', async () => {
  expect(passed(await failuresOf('2025-11-25'))).toEqual([
    'dns-rebinding-protection',
    'ping',
    'server-initialize',
    'server-session-lifecycle',
    'server-sse-multiple-streams',
    'server-sse-polling',
    'tools-call-error',
    'tools-call-simple-text',
    'tools-list',
  ]);
});

test('2026-07-28', async () => {
  const failures = await failuresOf('2026-07-28');
  expect(passed(failures)).toEqual([
    'dns-rebinding-protection',
    'http-header-validation',
    'input-required-result-ignore-extra-params',
    'input-required-result-missing-input-response',
    'input-required-result-unsupported-methods',
    'input-required-result-validate-input',
    'sep-2164-resource-not-found',
    'server-sse-multiple-streams',
    'tasks-status-notifications',
    'tools-call-error',
    'tools-call-simple-text',
    'tools-list',
  ]);
  // No tool of this server demands an ability of its client.
  expect(failures.get('server-stateless')).toEqual([
    'sep-2575-server-rejects-undeclared-capability',
    'sep-2575-missing-capability-http-400',
  ]);
  expect(failures.get('caching')).toEqual([
    'sep-2549-prompts-list-caching-hints',
    'sep-2549-resources-list-caching-hints',
    'sep-2549-resources-templates-list-caching-hints',
  ]);
});
