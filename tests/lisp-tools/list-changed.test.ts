// A tool that is defined in the image is there for every client at once, and goes with its image.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ERAS,
  type Era,
  type Session,
  type StartOptions,
  startSession,
  temporaryFolder,
} from '../harness.ts';
import { pause, until } from '../server/processes.ts';
import { RawServer } from '../server/raw.ts';

interface Watched {
  session: Session;
  /** How often the list was said to have changed. */
  changes: () => number;
}

/** Starts a session of ERA that listens for changes of the list, and passes it to USE. */
async function withSession(era: Era, use: (watched: Watched) => Promise<void>, options: StartOptions = {}) {
  let changes = 0;
  const session = await startSession({ era, ...options });
  try {
    session.client.setNotificationHandler('notifications/tools/list_changed', () => {
      changes += 1;
    });
    if (era === 'modern') await session.client.listen({ toolsListChanged: true });
    await use({ session, changes: () => changes });
  } finally {
    await session.close();
  }
}

function definition(name: string, value: string, more = ''): string {
  return `(live-lisp:register-tool live-lisp:*agent-q-registry*
    (live-lisp:define-tool "${name}" "Give ${value}. At once." '() ${more}
      :handler (lambda (args) (declare (ignore args)) "${value}")))`;
}

async function namesOf({ client }: Session): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

async function toolOf({ client }: Session, wanted: string) {
  return (await client.listTools()).tools.find(({ name }) => name === wanted);
}

describe.each(ERAS)('in the %s era', (era) => {
  test('S2.20 C19 a tool that an evaluation registers is listed, searched and called at once', async () => {
    await withSession(era, async ({ session, changes }) => {
      expect(session.client.getServerCapabilities()?.tools).toEqual({ listChanged: true });
      await session.eval(definition('gives_seven', 'seven'));
      await until('the change', 2000, () => changes() > 0);
      expect(await session.text('gives_seven')).toBe('seven');
      expect(await session.text('gives-seven')).toBe('seven');
      expect(await toolOf(session, 'gives_seven')).toEqual({
        name: 'gives_seven',
        title: 'Gives seven',
        description: 'Give seven. At once.',
        inputSchema: { type: 'object', properties: {} },
        annotations: {
          title: 'Gives seven',
          readOnlyHint: false,
          destructiveHint: true,
          idempotentHint: false,
          openWorldHint: true,
        },
        _meta: { 'live-lisp/declaredLevel': 'safe' },
      });
      const found = JSON.parse(await session.text('search_tools', { query: 'seven' }));
      expect(found.tools).toMatchObject([
        { name: 'gives_seven', description: 'Give seven.', hasCEMCPDirective: true },
      ]);
      expect(found.summary.totalInCatalog).toBe(23);
    });
  });

  test('C19 S4.1 evaluating the definition again replaces the tool, which keeps its place', async () => {
    await withSession(era, async ({ session, changes }) => {
      await session.eval(`${definition('first_one', 'one')} ${definition('second_one', 'two')}`);
      await until('the change', 2000, () => changes() > 0);
      await session.eval(definition('first_one', 'uno', ":categories '(:xref)"));
      await until('another change', 2000, () => changes() > 1);
      expect((await namesOf(session)).slice(-2)).toEqual(['first_one', 'second_one']);
      expect(await session.text('first_one')).toBe('uno');
      expect((await toolOf(session, 'first_one'))?.description).toBe('Give uno. At once.');
      expect(await session.eval('(last (live-lisp:list-registered-tools) 2)')).toBe(
        '("first_one" "second_one")',
      );
    });
  });

  test('S2.20 a thread can register, also when nobody calls', async () => {
    await withSession(era, async ({ session, changes }) => {
      await session.eval(`(sb-thread:make-thread (lambda () (sleep 0.5) ${definition('late', 'later')}))`);
      await until('the change', 5000, () => changes() > 0);
      expect(await session.text('late')).toBe('later');
      expect((await toolOf(session, 'late'))?._meta).toEqual({ 'live-lisp/declaredLevel': 'safe' });
    });
  });

  test('C19 the tools of a lost image are gone, and come back when they are registered again', async () => {
    await withSession(era, async ({ session, changes }) => {
      await session.eval(definition('mortal', 'alive'));
      await until('the change', 2000, () => changes() > 0);
      await session.eval('(sb-ext:exit :abort t)');
      await until('another change', 2000, () => changes() > 1);
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
  });

  test('many at once are told together', async () => {
    await withSession(era, async ({ session, changes }) => {
      const form = `(dotimes (i 100) (live-lisp:register-tool live-lisp:*agent-q-registry*
        (live-lisp:define-tool (format nil "tool_~D" i) "One of many." '() :handler #'identity)))`;
      await session.eval(form);
      await until('the change', 2000, () => changes() > 0);
      expect(await namesOf(session)).toHaveLength(122);
      expect(changes()).toBeLessThan(20);
    });
  });
});

test('a modern client that did not ask hears nothing of changes', async () => {
  const server = await new RawServer({ era: 'modern' }).connect();
  try {
    await server.eval(definition('quiet', 'nothing'));
    await pause(100);
    const { id, line } = server.request('subscriptions/listen', {
      notifications: { toolsListChanged: true },
    });
    server.write(line);
    await until('the acknowledgement', 5000, () =>
      server.messages.find(({ method }) => method === 'notifications/subscriptions/acknowledged'),
    );
    const changes = () =>
      server.messages.filter(({ method }) => method === 'notifications/tools/list_changed');
    expect(changes()).toEqual([]);
    await server.eval(definition('loud', 'something'));
    const [change] = await until('the change', 5000, () => changes().length > 0 && changes());
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
        title: 'Lisp eval form',
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
        /^Error: Tool "one_more" is one too many: an image can have 200 tools of its own\. Give it the name of one that is not needed any more\.\n/,
      );
      expect(await session.eval('(live-lisp:get-tool "one_more")')).toBe('NIL');
      expect(await session.eval(register('"tool_199"'))).toBe('#<LIVE-LISP:TOOL tool_199>');
      expect(await namesOf(session)).toHaveLength(222);
    });
  });
});

describe('a start file', () => {
  const root = temporaryFolder();
  const init = join(root.path, 'init.lisp');
  const define = (name: string, level: string) => definition(name, `by ${level}`, `:safety-level :${level}`);
  writeFileSync(
    init,
    `(in-package :live-lisp-user) ${define('trusted', 'safe')} ${define('risky', 'dangerous')}
    (defvar *seen* (list (length (list-registered-tools)) (call-tool "trusted")))`,
  );

  test('S2.20 C19 its tools keep their level, and come back with every new image', async () => {
    await withSession(
      'legacy',
      async ({ session }) => {
        expect(await session.eval('live-lisp-user::*seen*')).toBe('(20 "by safe")');
        const trusted = await toolOf(session, 'trusted');
        expect([trusted?.annotations?.readOnlyHint, trusted?._meta]).toEqual([true, undefined]);
        expect(await session.text('trusted')).toBe('by safe');
        expect(await session.text('risky')).toMatch(/start the server: --allow risky$/);
        await session.eval('(sb-ext:exit :abort t)');
        const { notices } = await session.call('eval_form', { form: '1' });
        expect(notices[0]).not.toContain('the tools');
        expect((await toolOf(session, 'trusted'))?.annotations?.readOnlyHint).toBe(true);
      },
      { args: ['--init', init] },
    );
  });

  test('S2.20 what a person allows holds for its tools, and not when an evaluation takes their names', async () => {
    await withSession(
      'legacy',
      async ({ session }) => {
        expect(await session.text('risky')).toBe('by dangerous');
        await session.eval(`${define('risky', 'dangerous')} ${define('trusted', 'safe')}`);
        expect((await session.call('risky')).text).toMatch(/needs a human's approval/);
        expect((await toolOf(session, 'trusted'))?.annotations?.readOnlyHint).toBe(false);
      },
      { args: ['--init', init, '--allow', 'risky'] },
    );
  });

  test('an approval for the session ends when an evaluation defines the tool anew', async () => {
    let asked = 0;
    await withSession(
      'legacy',
      async ({ session }) => {
        await session.eval(define('asks', 'dangerous'));
        expect([await session.text('asks'), await session.text('asks'), asked]).toEqual([
          'by dangerous',
          'by dangerous',
          1,
        ]);
        await session.eval(define('asks', 'dangerous'));
        expect([await session.text('asks'), asked]).toEqual(['by dangerous', 2]);
      },
      {
        onQuestion: () => {
          asked += 1;
          return { action: 'accept', content: { decision: 'approve for this session' } };
        },
      },
    );
  });
});
