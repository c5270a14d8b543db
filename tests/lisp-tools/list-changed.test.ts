// A tool that is defined in the image is there for every client at once, and goes with its image.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ERAS, type Session } from '../harness.ts';
import { BUILT_IN } from '../names.ts';
import { until } from '../server/processes.ts';
import { RawServer } from '../server/raw.ts';
import { definition, namesOf, toolOf, watch, withSession } from './sessions.ts';

describe.each(ERAS)('in the %s era', (era) => {
  let session: Session;
  let changes: () => number;
  /** How many changes the tests have seen. */
  let seen = 0;
  beforeAll(async () => {
    ({ session, changes } = await watch(era, { args: ['--replay', 'off'] }));
  });
  beforeEach(() => {
    seen = changes();
  });
  afterAll(() => session.close());

  /** Resolves once the list has changed since the last look. */
  async function change(): Promise<void> {
    await until('the change', 60_000, () => changes() > seen);
    seen = changes();
  }

  // It comes first, so that the notice names its tool alone.
  test('C19 without a journal the tools of a lost image are gone, and come back when they are registered again', async () => {
    await session.eval(definition('mortal', 'alive'));
    await change();
    await session.eval('(sb-ext:exit :abort t)');
    await change();
    expect(await namesOf(session)).not.toContain('mortal');
    await expect(session.call('mortal')).rejects.toMatchObject({ code: -32602 });
    const { text, notices } = await session.call('eval_form', {
      form: definition('mortal', 'alive again'),
    });
    expect([text, notices[0]]).toEqual([
      '#<LIVE-LISP:TOOL mortal>',
      expect.stringContaining('; the tools mortal. Load or define again what you need.'),
    ]);
    expect(await session.text('mortal')).toBe('alive again');
  });

  test('S2.20 C19 a tool that an evaluation registers is listed, searched and called at once', async () => {
    expect(session.client.getServerCapabilities()?.tools).toEqual({ listChanged: true });
    await session.eval(definition('gives_seven', 'seven'));
    await change();
    expect(await session.text('gives_seven')).toBe('seven');
    expect(await session.text('gives-seven')).toBe('seven');
    expect(await toolOf(session, 'gives_seven')).toEqual({
      name: 'gives_seven',
      description: 'Give seven. At once.',
      inputSchema: { type: 'object', properties: {} },
      _meta: { 'live-lisp/declaredLevel': 'safe' },
    });
    const found = JSON.parse(await session.text('search_tools', { query: 'seven' }));
    expect(found.tools).toMatchObject([
      { name: 'gives_seven', description: 'Give seven.', hasCEMCPDirective: true },
    ]);
    expect(found.summary.totalInCatalog).toBe(BUILT_IN.length + 2);
  });

  test('C19 S4.1 evaluating the definition again replaces the tool, which keeps its place', async () => {
    await session.eval(`${definition('first_one', 'one')} ${definition('second_one', 'two')}`);
    await change();
    await session.eval(definition('first_one', 'uno', ":categories '(:xref)"));
    await change();
    expect((await namesOf(session)).slice(-2)).toEqual(['first_one', 'second_one']);
    expect(await session.text('first_one')).toBe('uno');
    expect((await toolOf(session, 'first_one'))?.description).toBe('Give uno. At once.');
    expect(await session.eval('(last (live-lisp:list-registered-tools) 2)')).toBe(
      '("first_one" "second_one")',
    );
  });

  test('S2.20 a thread can register, also when nobody calls', async () => {
    await session.eval(`(sb-thread:make-thread (lambda () (sleep 0.5) ${definition('late', 'later')}))`);
    await change();
    expect(await session.text('late')).toBe('later');
    expect((await toolOf(session, 'late'))?._meta).toEqual({ 'live-lisp/declaredLevel': 'safe' });
  });

  test('many at once are told together', async () => {
    const form = `(dotimes (i 100) (live-lisp:register-tool live-lisp:*agent-q-registry*
      (live-lisp:define-tool (format nil "tool_~D" i) "One of many." '() :handler #'identity)))`;
    const [names, before] = [(await namesOf(session)).length, changes()];
    await session.eval(form);
    await change();
    expect(await namesOf(session)).toHaveLength(names + 100);
    expect(changes() - before).toBeLessThan(100);
  });
});

test.each(ERAS)(
  'S2.20 a client of the %s era hears of the change before the answer that made it',
  async (era) => {
    const server = await new RawServer({ era }).connect();
    try {
      if (era === 'modern') {
        server.write(
          server.request('subscriptions/listen', { notifications: { toolsListChanged: true } }).line,
        );
        await until('the acknowledgement', 60_000, () =>
          server.messages.find(({ method }) => method === 'notifications/subscriptions/acknowledged'),
        );
      }
      // The first call of an image takes longer than changes are gathered for.
      const reported: (string | undefined)[][] = [];
      for (const name of ['first', 'second', 'third', 'fourth']) {
        const before = server.messages.length;
        await server.eval(definition(name, 'here'));
        reported.push(server.messages.slice(before).map(({ method }) => method));
      }
      expect(reported).toEqual(reported.map(() => ['notifications/tools/list_changed', undefined]));
    } finally {
      await server.kill();
    }
  },
);

test('a modern client that did not ask hears nothing of changes', async () => {
  const server = await new RawServer({ era: 'modern' }).connect();
  try {
    await server.eval(definition('quiet', 'nothing'));
    const { id, line } = server.request('subscriptions/listen', {
      notifications: { toolsListChanged: true },
    });
    server.write(line);
    await until('the acknowledgement', 60_000, () =>
      server.messages.find(({ method }) => method === 'notifications/subscriptions/acknowledged'),
    );
    const changes = () =>
      server.messages.filter(({ method }) => method === 'notifications/tools/list_changed');
    expect(changes()).toEqual([]);
    await server.eval(definition('loud', 'something'));
    const [change] = await until('the change', 60_000, () => changes().length > 0 && changes());
    expect(change?.params?.['_meta']).toEqual({ 'io.modelcontextprotocol/subscriptionId': id });
  } finally {
    await server.kill();
  }
});

test('lists that never change are never said to have', async () => {
  for (const list of ['search', 'summary']) {
    await withSession(
      'legacy',
      async ({ session, changes }) => {
        await session.eval(definition('hidden', 'found'));
        expect(await session.text('search_tools', { query: 'hidden' })).toContain('"name":"hidden"');
        expect(await session.text('hidden')).toBe('found');
        if (list === 'search') expect(await session.text('call_tool', { name: 'hidden' })).toBe('found');
        expect([changes(), (await namesOf(session)).includes('hidden')]).toEqual([0, false]);
      },
      { args: ['--list', list] },
    );
  }
});

describe('names', () => {
  test('S2.20 a tool of the server keeps its name, and one of the image is lisp_NAME', async () => {
    await withSession('legacy', async ({ session }) => {
      const builtIn = await toolOf(session, 'eval_form');
      const names = ['eval_form', 'search_tools', 'call_tool', 'lisp_eval_form'];
      for (const name of names)
        expect(await session.eval(definition(name, `my ${name}`))).toBe(`#<LIVE-LISP:TOOL ${name}>`);
      expect((await namesOf(session)).slice(-4)).toEqual([
        'lisp_eval_form',
        'lisp_search_tools',
        'lisp_call_tool',
        'lisp_lisp_eval_form',
      ]);
      expect(await toolOf(session, 'eval_form')).toEqual(builtIn);
      expect(await toolOf(session, 'lisp_eval_form')).toMatchObject({
        description: 'Give my eval_form. At once.',
      });
      expect(await session.text('eval_form', { form: '(+ 1 2)' })).toBe('3');
      for (const name of names) expect(await session.text(`lisp_${name}`)).toBe(`my ${name}`);
      expect(
        await session.eval(
          '(live-lisp:tool-result-result (live-lisp:execute-tool-call (live-lisp:get-tool "eval_form") nil))',
        ),
      ).toBe('"my eval_form"');
    });
  });

  test('C19 an image can have 200 tools; one more is refused, and none is lost', async () => {
    await withSession('legacy', async ({ session }) => {
      const register = (name: string) => `(live-lisp:register-tool live-lisp:*agent-q-registry*
        (live-lisp:define-tool ${name} "One of many." '() :handler #'identity))`;
      await session.eval(`(dotimes (i 200) ${register('(format nil "tool_~D" i)')})`);
      const { text, isError } = await session.call('eval_form', { form: register('"one_more"') });
      expect(isError).toBe(true);
      expect(text).toMatch(
        /^Error: Tool "one_more" was not added, because an image can have at most 200 tools of its own\. Give it the name of a tool that is no longer needed\.\n/,
      );
      expect(await session.eval('(live-lisp:get-tool "one_more")')).toBe('NIL');
      expect(await session.eval(register('"tool_199"'))).toBe('#<LIVE-LISP:TOOL tool_199>');
      expect(await namesOf(session)).toHaveLength(BUILT_IN.length + 200);
    });
  });
});

test('messages of the image that no agent sends break nothing', async () => {
  const messages = [
    '"register" "x"',
    '"register" nil',
    '"register" (list 1 2)',
    '"register" (live-lisp.base::object "name" (list 1) "parameters" 5)',
    '"register" (live-lisp.base::object "name" "x" "description" "X." "parameters" (vector (vector)) "required" (vector) "categories" (vector))',
  ];
  await withSession('legacy', async ({ session }) => {
    for (const members of messages) {
      await session.eval(`(live-lisp.base::send (live-lisp.base::object "call" 999 ${members}))`);
      expect(await session.eval('(+ 1 2)'), members).toBe('3');
      expect(await namesOf(session), members).toHaveLength(BUILT_IN.length);
    }
  });
});
