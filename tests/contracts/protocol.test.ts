// What a client sees of the tools beyond their texts: the list, names, errors, evaluation.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERAS, type Era, NO_SYSTEMS, type Session, startSession } from '../harness.ts';
import { ownSession } from '../shared.ts';

let sessions: Record<Era, Session>;
let session: Session;
beforeAll(async () => {
  const [legacy, modern] = await Promise.all(ERAS.map((era) => startSession({ era, args: NO_SYSTEMS })));
  if (legacy === undefined || modern === undefined) throw new Error('A session did not start.');
  sessions = { legacy, modern };
  session = legacy;
});
afterAll(() => Promise.all(ERAS.map((era) => sessions[era].close())));

async function listedTools(from: Session) {
  return (await from.client.listTools()).tools;
}

/** Returns all of TOOL: its name and description, the rest, and a line for each of its parameters. */
function toolText({ name, description, ...rest }: Awaited<ReturnType<typeof listedTools>>[number]): string {
  const { properties = {} } = rest.inputSchema;
  const others = { ...rest, inputSchema: { ...rest.inputSchema, properties: Object.keys(properties) } };
  const parameters = Object.entries(properties).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`);
  return `${[`${name}: ${description}`, JSON.stringify(others), ...parameters].join('\n')}\n`;
}

describe('the list of tools', () => {
  test('S2.19 C1 the list is what it was: a change of it is a change for every client', async () => {
    const text = (await listedTools(session)).map(toolText).join('\n');
    await expect(text).toMatchFileSnapshot('__snapshots__/tools-list.txt');
  });

  test('C1 both eras list the same', async () => {
    expect(await listedTools(sessions.modern)).toEqual(await listedTools(sessions.legacy));
  });

  test('S2.2 C1 C16 every listed name is in snake_case and listed once', async () => {
    const names = (await listedTools(session)).map(({ name }) => name);
    expect(names.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  test('C1 --tool-names contract lists two tools in the spelling of their contracts, and takes both spellings', async () => {
    const plain = await listedTools(session);
    const spelled: Record<string, string> = { apropos_search: 'apropos-search', who_calls: 'who-calls' };
    const expected = plain.map((tool) => ({ ...tool, name: spelled[tool.name] ?? tool.name }));
    const contract = await ownSession({ args: ['--tool-names', 'contract'] });
    expect(await listedTools(contract)).toEqual(expected);
    const asked = ['who_calls', 'who-calls'].map((name) => contract.text(name, { name: 'nope' }));
    const texts = await Promise.all(asked);
    const text = 'Symbol NOPE not found in package CL-USER (status: NIL)';
    expect(texts).toEqual([text, text]);
  });

  test.each([
    ['describe_symbol', ['symbol'], ['symbol', 'package']],
    ['eval_form', ['form'], ['form', 'package']],
    ['apropos_search', ['pattern'], ['pattern', 'package', 'type']],
    ['who_calls', ['name'], ['name', 'package']],
  ])('S2.19 C2 %s requires %j and takes %j first', async (name, required, first) => {
    const tool = (await listedTools(session)).find((each) => each.name === name);
    const properties = Object.entries(tool?.inputSchema.properties ?? {});
    expect(tool?.inputSchema.required).toEqual(required);
    expect(properties.slice(0, first.length).map(([key]) => key)).toEqual(first);
    for (const [, schema] of properties.slice(0, first.length))
      expect(schema).toMatchObject({ type: 'string' });
  });
});

describe('names and errors', () => {
  const ASKED = ERAS.flatMap((era) =>
    [
      ['apropo-search', 'apropos_search'],
      ['EVAL_FORM', 'eval_form'],
    ].map(([asked, meant]) => [era, asked, meant] as [Era, string, string]),
  );

  test.each(ASKED)(
    'C8 S2.14 in the %s era the unknown tool %s is a protocol error that names %s',
    async (era, asked, meant) => {
      const call = sessions[era].client.callTool({ name: asked, arguments: {} });
      await expect(call).rejects.toMatchObject({ code: -32602, message: expect.stringContaining(meant) });
    },
  );

  test.each(['', '__proto__', '\ud800', 'x'.repeat(1000)])(
    'C8 the unknown tool %j is a protocol error',
    async (name) => {
      const call = session.client.callTool({ name, arguments: {} });
      await expect(call).rejects.toMatchObject({ code: -32602 });
    },
  );

  test.each(['describe-symbol', 'describe_symbol'])(
    'C1 %s is the same tool in either spelling',
    async (name) => {
      expect(await session.text(name, { symbol: 'nope' })).toBe(
        'Symbol NOPE not found in package CL-USER (status: NIL)',
      );
    },
  );

  test.each([
    ['describe_symbol', 'symbol'],
    ['eval_form', 'form'],
    ['apropos_search', 'pattern'],
    ['who_calls', 'name'],
  ])('S2.18 C8 %s without %s is an error with the text of the contract', async (tool, parameter) => {
    for (const args of [{}, { [parameter]: null }, { package: 'CL' }]) {
      const answer = await session.call(tool, args);
      expect(answer).toEqual({
        text: `Required parameter '${parameter}' missing`,
        notices: [],
        isError: true,
      });
    }
  });

  test.each([
    ['describe_symbol', { symbol: 'car', package: ['CL'] }, 'package'],
    ['eval_form', { form: { code: '1' } }, 'form'],
  ])('S2.18 C8 %s of %j is an error that names %s', async (tool, args, parameter) => {
    const { text, isError } = await session.call(tool, args);
    expect(isError).toBe(true);
    expect(text).toContain(`'${parameter}'`);
  });

  test.each([
    [{ symbol: 'nonexistent' }, 'Symbol NONEXISTENT not found in package CL-USER (status: NIL)'],
    [{ symbol: 'nope', package: 'cl' }, 'Symbol NOPE not found in package cl (status: NIL)'],
    [{ symbol: '|nope|', package: 'CL' }, 'Symbol nope not found in package CL (status: NIL)'],
    [{ symbol: 'nope', package: 'No Such' }, 'Package No Such not found'],
  ])('S2.15 C9 C16 describe_symbol of %j says what is not there', async (args, text) => {
    expect(await session.call('describe_symbol', args)).toEqual({ text, notices: [], isError: false });
  });

  test('S4.13 calls side by side, failing ones among them, go each to the one that asked', async () => {
    const forms = ['(progn (sleep 0.3) 1)', '(error "two")', '3', '(progn (sleep 0.1) 4)'];
    const texts = await Promise.all(forms.map((form) => session.eval(form)));
    expect(texts.map((text) => text.split('\n')[0])).toEqual(['1', 'Error: two', '3', '4']);
  });
});

describe('evaluation', () => {
  test.each([
    ['"a\\"b"', '"a\\"b"'],
    ['(list 1 "a" :k #\\a)', '(1 "a" :K #\\a)'],
    ['nil', 'NIL'],
    ["'|foo Bar|", '|foo Bar|'],
    ['3.5d0', '3.5d0'],
  ])('S2.16 %s is printed by ~S', async (form, text) => {
    expect(await session.call('eval_form', { form })).toEqual({ text, notices: [], isError: false });
  });

  test('S2.16 the package is that in which the form is read and printed', async () => {
    await session.eval('(make-package "SOME.WHERE" :use (list "CL"))');
    expect(await session.eval("'there", { package: 'SOME.WHERE' })).toBe('THERE');
    expect(await session.eval("'some.where::there")).toBe('SOME.WHERE::THERE');
    expect(await session.eval('(package-name *package*)', { package: 'some.where' })).toBe('"SOME.WHERE"');
  });

  test.each(['No Where', '~a'])(
    'S2.16 C8 C9 the unknown package %j is an error, and nothing is evaluated',
    async (name) => {
      await session.eval('(defparameter *evaluated* nil)');
      const answer = await session.call('eval_form', {
        form: '(setf cl-user::*evaluated* t)',
        package: name,
      });
      expect(answer).toEqual({ text: `Package ${name} not found`, notices: [], isError: true });
      expect(await session.eval('*evaluated*')).toBe('NIL');
    },
  );

  test('S2.16 C8 an error gives its text first, then type, restarts and frames', async () => {
    await session.eval('(defun risky (x) (restart-case (error "boom ~a" x) (skip () :report "Skip it" 1)))');
    const { text, isError } = await session.call('eval_form', { form: '(risky 3)' });
    expect(isError).toBe(true);
    expect(text.split('\n').slice(0, 2)).toEqual(['Error: boom 3', 'Type: COMMON-LISP::SIMPLE-ERROR']);
    const places = ['SIMPLE-ERROR', 'SKIP: Skip it', '(COMMON-LISP-USER::RISKY 3)'].map((part) =>
      text.indexOf(part),
    );
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual([...places].sort((one, other) => one - other));
  });

  test.each([
    ['no-such-variable', 'Error: The variable NO-SUCH-VARIABLE is unbound.'],
    ['(error "~~a and %s")', 'Error: ~a and %s'],
  ])('S2.16 C8 the first line of %s says %s', async (form, line) => {
    const { text, isError } = await session.call('eval_form', { form });
    expect(isError).toBe(true);
    expect(text.split('\n')[0]).toBe(line);
  });

  test.each(['(list 1', ')', 'no-such-package::x'])(
    'S2.16 C8 %s, which cannot be read, is an error too',
    async (form) => {
      const { text, isError } = await session.call('eval_form', { form });
      expect(isError).toBe(true);
      expect(text).toMatch(/^Error: ./);
    },
  );

  test('S2.9 C8 after an error the image goes on', async () => {
    expect((await session.call('eval_form', { form: '(error "once")' })).isError).toBe(true);
    expect(await session.call('eval_form', { form: '(+ 1 2)' })).toEqual({
      text: '3',
      notices: [],
      isError: false,
    });
  });
});
