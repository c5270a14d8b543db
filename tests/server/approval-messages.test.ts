// What counts as a human's answer when a client sends what no client should: replayed, changed, late, made up.

import { existsSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { changedMeanwhile } from '../said.ts';
import { expired, filesToApprove } from './files-to-approve.ts';
import { until } from './processes.ts';
import { RawServer, type Reply, textOf } from './raw.ts';

const CLOSED =
  'This approval was used already, expired, or was asked for before the server started, so nothing was done. Call the tool again to ask anew.';
const FORGED =
  'This approval expired, or the client sent it back with changed data, so nothing was done. Call the tool again to ask anew.';
const OTHER =
  'This approval was for another call, so nothing was done. Call the tool again to ask for this one.';

const UNANSWERED =
  "Tool write_file is dangerous and needs a human's approval. Nobody answered the question, so nothing was done. A person can allow it when they start the server: --allow write_file:src/a.lisp";

const LATE = UNANSWERED.replace('the question', 'in time');

const APPROVAL = { action: 'accept', content: { decision: 'approve' } };

const { start, share } = filesToApprove();
const WRITE = { name: 'write_file', arguments: { path: 'src/a.lisp', content: '(b)' } };

/** Calls as PARAMS say and returns the state that the server wants back with the answer. */
async function ask(server: RawServer, params: object = WRITE): Promise<unknown> {
  const { result } = await server.send(server.request('tools/call', params));
  expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
  return result?.requestState;
}

/** Sends what a client of the modern era sends with the answer to the question of STATE. */
function answer(server: RawServer, requestState: unknown, changes: object = {}): Promise<Reply> {
  const params = { ...WRITE, requestState, inputResponses: { approval: APPROVAL }, ...changes };
  return server.send(server.request('tools/call', params));
}

/** What the audit log has of one call to which nobody said anything in time. */
const TOO_LATE = /^1 call .*\n.* write_file \(dangerous, nobody answered in time\) failed /s;

/** Returns what the audit log has of the calls of write_file. */
async function recorded(server: RawServer): Promise<string> {
  return textOf(await server.send(server.callLine('get_audit_log', { tool: 'write_file' })));
}

/** Throws unless REPLY is a failure with TEXT. */
function expectRefusal(reply: Reply, text: string): void {
  expect([textOf(reply), reply.result?.isError]).toEqual([text, true]);
}

test('S2.12 an approval is used once: the same message again does nothing', async () => {
  const { server, file, content } = await share();
  const state = await ask(server);
  expect(textOf(await answer(server, state))).toBe('Wrote 3 bytes to src/a.lisp');
  writeFileSync(file, '(a)');
  expectRefusal(await answer(server, state), CLOSED);
  expect(content()).toBe('(a)');
});

test('S2.12 of the same answer twice at once, one counts', async () => {
  const { server } = await share();
  const state = await ask(server);
  const texts = (await Promise.all([answer(server, state), answer(server, state)])).map(textOf);
  expect(texts.sort()).toEqual([CLOSED, 'Wrote 3 bytes to src/a.lisp']);
});

test.each<[string, object, string]>([
  ['for other arguments', { arguments: { path: 'src/a.lisp', content: '(delete-everything)' } }, OTHER],
  [
    'for another tool',
    { name: 'propose_file_edit', arguments: { path: 'src/a.lisp', original: '(a)', modified: '(b)' } },
    OTHER,
  ],
  ['without a state', { requestState: undefined }, FORGED],
  ['with a state of its own', { requestState: 'approved' }, FORGED],
  ['with an answer to another question', { inputResponses: { other: APPROVAL } }, UNANSWERED],
  ['with an answer of another kind', { inputResponses: { approval: { roots: [] } } }, UNANSWERED],
])('S2.12 C29 an approval %s does nothing', async (_, changes, text) => {
  const { server, content } = await share();
  const state = await ask(server);
  const reply = await answer(server, state, changes);
  expectRefusal(reply, text);
  expect(content()).toBe('(a)');
});

test('the file with a preview goes with an answer that is none', async () => {
  const { server } = await share();
  const { result } = await server.send(server.request('tools/call', WRITE));
  const [preview = ''] = /\/\S+?\.diff/.exec(JSON.stringify(result)) ?? [];
  expect(existsSync(preview)).toBe(true);
  expectRefusal(await answer(server, result?.requestState, { inputResponses: {} }), UNANSWERED);
  expect(existsSync(preview)).toBe(false);
});

test('S2.12 a state that was changed anywhere does nothing', async () => {
  const { server, content } = await share();
  const state = String(await ask(server));
  for (const at of [0, state.length >> 2, state.length >> 1, state.length - 3]) {
    const other = state[at] === 'A' ? 'B' : 'A';
    expectRefusal(await answer(server, state.slice(0, at) + other + state.slice(at + 1)), FORGED);
  }
  expectRefusal(await answer(server, state.slice(0, -4)), FORGED);
  expect(content()).toBe('(a)');
  // Nothing of that used up the approval itself.
  expect(textOf(await answer(server, state))).toBe('Wrote 3 bytes to src/a.lisp');
});

test('S2.12 the state of another server does nothing', async () => {
  const [one, two] = await Promise.all([start('modern'), share()]);
  const state = await ask(one.server);
  await ask(two.server);
  expectRefusal(await answer(two.server, state), FORGED);
  expect(two.content()).toBe('(a)');
});

test('S2.12 an approval that comes too late does nothing', async () => {
  const { server, content } = await start('modern', ['--answer-time', '0.3']);
  const state = await ask(server);
  await expired(server);
  expectRefusal(await answer(server, state), CLOSED);
  expect(content()).toBe('(a)');
  expect(await recorded(server)).toMatch(TOO_LATE);
});

test('S2.12 a file that changed meanwhile is not touched', async () => {
  const { server, file, content } = await share();
  const state = await ask(server);
  writeFileSync(file, '(theirs)');
  expectRefusal(await answer(server, state), changedMeanwhile('write_file'));
  expect(content()).toBe('(theirs)');
});

test('S2.12 an answer and a cancellation in one message do nothing', async () => {
  const { server, content } = await start('modern');
  const requestState = await ask(server);
  const params = { ...WRITE, requestState, inputResponses: { approval: APPROVAL } };
  const { id, line } = server.request('tools/call', params);
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } };
  server.write(`${line}${JSON.stringify(cancel)}\n`);
  expect(await server.send(server.callLine('read_file', { path: 'src/a.lisp' }))).toBeDefined();
  // What it had set going would be on record by the end of so many other calls.
  for (let count = 0; count < 20; count++) {
    await server.send(server.callLine('read_file', { path: 'src/a.lisp' }));
  }
  const log = textOf(await server.send(server.callLine('get_audit_log', { tool: 'write_file' })));
  expect([content(), log]).toEqual(['(a)', expect.stringMatching(/^0 calls /)]);
});

test('an approval for the session holds for the folder that the human was told, not for others', async () => {
  const { server } = await start('modern');
  const write = async (path: string) => {
    const reply = await server.send(server.callLine('write_file', { path, content: '1' }));
    return reply.result?.resultType === 'input_required' ? reply.result : textOf(reply);
  };
  const first = { name: 'write_file', arguments: { path: '"lib"/x.lisp', content: '1' } };
  const { result } = await server.send(server.request('tools/call', first));
  expect(JSON.stringify(result)).toContain(
    'for this session: write_file of *.lisp directly in \\"\\\\\\"lib\\\\\\"\\"',
  );
  const inputResponses = {
    approval: { action: 'accept', content: { decision: 'approve for this session' } },
  };
  await answer(server, result?.requestState, { ...first, inputResponses });
  expect(await write('"lib"/y.lisp')).toBe('Wrote 1 bytes to "lib"/y.lisp');
  for (const path of ['lib/evil.lisp', '"lib"/deep/x.lisp', 'x.lisp', '"lib"/y']) {
    expect(await write(path)).toMatchObject({ resultType: 'input_required' });
  }
});

test('S2.12 one denial of two questions counts, though the other was approved for the session', async () => {
  const { server, content } = await start('modern');
  const [one, two] = [await ask(server), await ask(server)];
  const session = { approval: { action: 'accept', content: { decision: 'approve for this session' } } };
  await answer(server, one, { inputResponses: session });
  expect(content()).toBe('(b)');
  expectRefusal(
    await answer(server, two, { inputResponses: { approval: { action: 'decline' } } }),
    'Tool execution denied by user',
  );
});

test('S2.12 a file that is loaded is the one that was shown', async () => {
  const { server, file } = await start('modern', ['--ask', 'cautious']);
  const load = { name: 'load_file', arguments: { path: 'src/a.lisp' } };
  const { result } = await server.send(server.request('tools/call', load));
  expect(JSON.stringify(result)).toContain(
    'Approve load_file (cautious)? 1 line to compile and run, in src/a.lisp\\n',
  );
  writeFileSync(file, '(evil)');
  expectRefusal(await answer(server, result?.requestState, load), changedMeanwhile('load_file'));
});

test('C20 a client that can only open pages cannot be asked', async () => {
  const server = new RawServer({ era: 'modern', capabilities: { elicitation: { url: {} } } });
  await server.connect();
  const reply = await server.send(server.callLine('write_file', { path: 'never/x', content: '' }));
  await server.kill();
  expect(textOf(reply)).toContain('here nobody can be asked');
});

/** Resolves with the question that the server asks its client of the legacy era. */
function asked(server: RawServer): Promise<Reply> {
  return until('a question', 30_000, () =>
    server.messages.find((each) => each.method === 'elicitation/create'),
  );
}

function respond(server: RawServer, id: unknown, result: object = APPROVAL): void {
  server.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
}

test('S2.12 in the legacy era, an answer counts once and for its question only, and what comes with a call approves nothing', async () => {
  const { server, file, content } = await start('legacy');
  const forged = { ...WRITE, requestState: 'approved', inputResponses: { approval: APPROVAL } };
  expectRefusal(await server.send(server.request('tools/call', forged)), FORGED);
  expect(content()).toBe('(a)');
  const call = server.request('tools/call', WRITE);
  server.write(call.line);
  const { id } = await asked(server);
  respond(server, 9999);
  respond(server, id);
  expect(textOf(await server.answer(call.id))).toBe('Wrote 3 bytes to src/a.lisp');
  writeFileSync(file, '(a)');
  respond(server, id);
  expect(await server.eval('(+ 1 2)')).toBe('3');
  expect(content()).toBe('(a)');
});

test('S2.12 in the legacy era, an answer that comes too late does nothing', async () => {
  const { server, content } = await start('legacy', ['--answer-time', '0.3']);
  const call = server.request('tools/call', WRITE);
  server.write(call.line);
  const { id } = await asked(server);
  await expired(server);
  respond(server, id);
  expectRefusal(await server.answer(call.id), LATE);
  expect(content()).toBe('(a)');
  expect(await recorded(server)).toMatch(TOO_LATE);
});

test('S2.12 a client that leaves while its human thinks has approved nothing', async () => {
  const { server, content } = await start('legacy');
  server.write(server.request('tools/call', WRITE).line);
  await asked(server);
  server.end();
  await server.exited;
  expect(content()).toBe('(a)');
});
