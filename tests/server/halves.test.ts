// Halves of surrogate pairs, which Lisp strings can contain: no message to the client has one, since many JSON readers
// refuse the whole message then.

import { beforeAll, expect, test } from 'vitest';
import { NO_SYSTEMS } from '../harness.ts';
import { type Reply, RawServer, textOf } from './raw.ts';

const server = new RawServer({ args: [...NO_SYSTEMS] });

beforeAll(async () => {
  await server.connect();
  return () => server.kill();
});

/** Returns MESSAGE, whose texts must have no half of a surrogate pair, also not in JSON within them. */
function whole(message: Reply): Reply {
  expect(JSON.stringify(message)).not.toMatch(/\\ud[89a-f]/i);
  return message;
}

const HALF = String.fromCharCode(0xd800);

test('a value, output and an error tell the code of a half; a pair stays', async () => {
  const answer = async (form: string) => textOf(whole(await server.send(server.callLine('eval_form', { form }))));
  expect(await answer('(list (string (code-char #xd800)) "\u{1f600}")')).toBe('("<U+D800>" "\u{1f600}")');
  expect(await answer('(progn (write-char (code-char #xdfff)) 1)')).toBe('1\n\nOutput:\n<U+DFFF>');
  expect(await answer('(error "a~Cb" (code-char #xdc00))')).toMatch(/^Error: a<U\+DC00>b\n/);
});

test('what the client sends comes back with the code', async () => {
  const described = await server.send(server.callLine('describe_symbol', { symbol: `x${HALF}` }));
  expect(textOf(whole(described))).toBe('Symbol X<U+D800> not found in package CL-USER (status: NIL)');
  const found = await server.send(server.callLine('search_tools', { query: `${HALF} callers` }));
  expect(found.result?.['structuredContent']).toMatchObject({ query: '<U+D800> callers' });
});

test('a tool that code makes is listed with the code', async () => {
  await server.eval(
    `(live-lisp:register-tool live-lisp:*agent-q-registry*
       (live-lisp:define-tool "halves" (format nil "Tell ~A." (code-char #xd800)) '()
         :handler (lambda (arguments) (declare (ignore arguments)) 1)))`,
  );
  const listed = whole(await server.send(server.request('tools/list')));
  expect(listed.result?.['tools']).toContainEqual(
    expect.objectContaining({ name: 'halves', description: 'Tell <U+D800>.' }),
  );
});
