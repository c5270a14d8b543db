// What hosts show their people and their model of the server as a whole.

import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identity } from '../../src/server/identity.ts';
import { startSession } from '../harness.ts';

const DESCRIPTION = 'Evaluate, search, debug and change a running Common Lisp (SBCL) program';

describe.each([
  ['legacy', undefined],
  ['modern', { name: 'live-lisp', title: 'Live Common Lisp image', version: '0.1.0' }],
] as const)('in the %s era', (era, short) => {
  let client: Client;
  beforeAll(async () => {
    ({ client } = await startSession({ era }));
  });
  afterAll(() => client.close());

  test('a client learns who serves, with a description and an icon', () => {
    const server = client.getServerVersion();
    expect(server).toMatchObject({ name: 'live-lisp', description: DESCRIPTION });
    const [icon] = server?.icons ?? [];
    expect(icon).toMatchObject({ mimeType: 'image/svg+xml', sizes: ['any'] });
    expect(decodeURIComponent(icon?.src ?? '')).toMatch(/^data:image\/svg\+xml,<svg xmlns="[^"]+".*<\/svg>$/);
  });

  test('the first line of the instructions says alone what the server is for', () => {
    const text = client.getInstructions() ?? '';
    expect(text.split('\n')[0]).toBe(
      'Ask and change a running Common Lisp (SBCL) program: evaluate, find symbols, callers and documentation, load, edit, test, debug, profile. Use it for any Lisp work, before reading files.',
    );
    expect(text).toMatch(/several forms.*call-tool.*probe file/s);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2048);
  });

  test('an answer of a call names the server in short, and only where the era has that', async () => {
    let meta: Record<string, unknown> | undefined;
    const { transport } = client;
    const take = transport?.onmessage;
    if (transport === undefined || take === undefined) throw new Error('The client is not connected.');
    transport.onmessage = (message) => {
      if ('result' in message) meta = message.result['_meta'];
      take(message);
    };
    await client.callTool({ name: 'get_last_error' });
    expect(meta?.['io.modelcontextprotocol/serverInfo']).toEqual(short);
  });
});

test('the home page is told when there is one', () => {
  expect(identity('1.0.0', 'https://example.org')).toMatchObject({ websiteUrl: 'https://example.org' });
  expect(identity('1.0.0')).not.toHaveProperty('websiteUrl');
});
