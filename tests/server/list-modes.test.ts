// S1 through the built server: what each mode lists, and that all of them can call everything.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SearchToolsResult } from '../../src/catalog/search-tools.ts';
import { bad, PROJECT, type Session, startSession } from '../harness.ts';
import { BUILT_IN } from '../names.ts';
import { noString, unknownTool } from '../said.ts';

const MODES = ['full', 'lightweight', 'summary', 'search'] as const;
type Mode = (typeof MODES)[number];

const NAMES = BUILT_IN.map(([name]) => name);

let sessions: Map<Mode, Session>;
const sessionOf = (mode: Mode): Session => {
  const session = sessions.get(mode);
  if (session === undefined) throw new Error(`There is no session ${mode}.`);
  return session;
};

beforeAll(async () => {
  const started = await Promise.all(
    MODES.map(async (mode) => {
      const args = mode === 'full' ? [] : ['--list', mode];
      return [mode, await startSession({ era: 'modern', args })] as const;
    }),
  );
  sessions = new Map(started);
});
afterAll(() => Promise.all([...sessions.values()].map((session) => session.close())));

function library(): Promise<typeof import('../../src/index.ts')> {
  return import(`${PROJECT}/dist/index.js`);
}

async function listed(session: Session) {
  return (await session.client.listTools()).tools;
}

async function search(session: Session, args: object): Promise<SearchToolsResult> {
  return JSON.parse(await session.text('search_tools', args as Record<string, unknown>));
}

describe.each(MODES)('%s', (mode) => {
  let session: Session;
  beforeAll(() => {
    session = sessionOf(mode);
  });

  test('S1.1 search_tools stands first, as its contract defines it', async () => {
    const [first] = await listed(session);
    expect(first?.name).toBe('search_tools');
    expect(first?.description).toBe(
      'Search and discover available tools by category, keyword, or capability. Use this to find the right tool for a task without loading all tool schemas. Returns lightweight tool metadata by default; use includeSchema:true for full schemas.',
    );
    // tests/contracts/protocol.test.ts has the list with this schema frozen.
    const [plain] = await listed(sessionOf('full'));
    expect(first?.inputSchema).toEqual(plain?.inputSchema);
    expect(first?.inputSchema).not.toHaveProperty('required');
  });

  test('S1.16 every registered tool can be called, in either spelling', async () => {
    for (const name of ['eval_form', 'eval-form']) {
      expect(await session.call(name, { form: '(* 6 7)' })).toMatchObject({ text: '42', isError: false });
    }
    expect(await session.text('who-calls', { name: 'nope' })).toBe(
      'Symbol NOPE not found in package CL-USER (status: NIL)',
    );
  });

  test('S1.16 call_tool validates and answers as the tool it calls', async () => {
    const through = (args: object) => session.call('call_tool', args as Record<string, unknown>);
    expect(await through({ name: 'eval_form', arguments: { form: '(* 6 7)' } })).toMatchObject({
      text: '42',
      isError: false,
    });
    expect(await through({ name: 'eval-form', arguments: {} })).toEqual(
      bad("Required parameter 'form' missing"),
    );
    const found = { name: 'search_tools', arguments: { query: 'callers' } };
    expect(await through(found)).toEqual(await session.call('search_tools', { query: 'callers' }));
  });

  test('S1.16 searching changes no list', async () => {
    const before = await listed(session);
    await search(session, { includeSchema: true });
    await search(session, { query: 'who calls this' });
    expect(await listed(session)).toEqual(before);
  });

  test('S1.14 the answer is JSON text, and the same as structure', async () => {
    const result = await session.client.callTool({
      name: 'search_tools',
      arguments: { query: 'call sites' },
    });
    const [content, ...more] = result.content as { type: string; text: string }[];
    expect(more).toEqual([]);
    expect(result.structuredContent).toEqual(JSON.parse(content?.text ?? ''));
    expect(result.structuredContent).toMatchObject({ success: true, query: 'call sites' });
  });

  test('S1.9 includeSchema gives the schema that the full list has', async () => {
    const full = await listed(sessionOf('full'));
    const { tools, summary } = await search(session, { includeSchema: true, limit: 0 });
    expect(Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]))).toEqual(
      Object.fromEntries(full.map(({ name, inputSchema }) => [name, inputSchema])),
    );
    expect(summary.totalInCatalog).toBe(full.length);
  });
});

test('S1.17 a limit that is no limit is an error', async () => {
  expect(await sessionOf('full').call('search_tools', { limit: -1 })).toEqual(
    bad("Parameter 'limit' must be a whole number from 1, or 0 for no limit, not -1."),
  );
});

describe('the lists', () => {
  test('S1.12 full lists everything, search_tools first', async () => {
    const tools = await listed(sessionOf('full'));
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', ...NAMES.slice(0, -1)]);
  });

  test('the full list has at most 27,000 octets, and each tool at most 1,400', async () => {
    const octets = (value: object) => Buffer.byteLength(JSON.stringify(value));
    const tools = await listed(sessionOf('full'));
    expect(octets({ tools })).toBeLessThanOrEqual(27_000);
    expect(tools.filter((tool) => octets(tool) > 1400).map(({ name }) => name)).toEqual([]);
  });

  test('S1.12 summary lists search_tools only', async () => {
    expect((await listed(sessionOf('summary'))).map(({ name }) => name)).toEqual(['search_tools']);
  });

  test('S1.12 lightweight lists short entries by name', async () => {
    const [, ...others] = await listed(sessionOf('lightweight'));
    const { tools } = await search(sessionOf('lightweight'), { limit: 0 });
    expect(others).toEqual(
      tools
        .filter(({ name }) => name !== 'search_tools')
        .map(({ name, description, category, hasCEMCPDirective }) => ({
          name,
          description: `[${category}] ${description}${hasCEMCPDirective ? ' (CE-MCP)' : ''}`,
          inputSchema: {
            type: 'object',
            properties: {},
            description: `Use search_tools with query:"${name}" to get full schema`,
          },
        })),
    );
    expect(others.map(({ name }) => name)).toEqual(NAMES.slice(0, -1).sort());
    expect(others.find(({ name }) => name === 'eval_form')?.description).toBe(
      '[workflow] Evaluate Lisp forms in the running image: values, output, warnings, conditions (CE-MCP)',
    );
  });

  test('S1.16 search lists search_tools and call_tool', async () => {
    const tools = await listed(sessionOf('search'));
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'call_tool']);
    expect(tools[1]).toMatchObject({
      inputSchema: {
        type: 'object',
        required: ['name'],
        properties: { name: {}, arguments: { type: 'object' } },
      },
    });
  });

  test('S1.16 four tools are loaded from the start, the others have words to be found by', async () => {
    const tools = await listed(sessionOf('full'));
    const always = tools.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad'] === true);
    expect(always.map(({ name }) => name)).toEqual([
      'describe_symbol',
      'apropos_search',
      'who_calls',
      'eval_form',
    ]);
    for (const { _meta } of tools.filter((tool) => !always.includes(tool))) {
      expect(_meta?.['anthropic/searchHint']).toMatch(/^[^,]+(, [^,]+)*$/);
      expect(Buffer.byteLength(JSON.stringify(_meta))).toBeLessThanOrEqual(51);
    }
  });

  test.each(['lightweight', 'summary', 'search'] as const)(
    'S1.16 where %s hides what tools take, search_tools is loaded from the start',
    async (mode) => {
      const [first] = await listed(sessionOf(mode));
      expect(first).toMatchObject({ name: 'search_tools', _meta: { 'anthropic/alwaysLoad': true } });
    },
  );

  test.each([
    [{}, "Required parameter 'name' missing"],
    [{ name: 5 }, noString('name')],
    [{ name: 'eval_form', arguments: '{}' }, "Parameter 'arguments' must be an object, not a string."],
    [{ name: 'eval_form', form: '1' }, "Unknown parameter 'form'; call_tool takes name, arguments."],
    [{ name: 'call_tool' }, 'call_tool cannot call itself; give the name of the tool to call.'],
    [{ name: 'zzzzzzzzzzzzzzz' }, unknownTool('zzzzzzzzzzzzzzz')],
  ])('S1.16 call_tool with %j is an error that says what to do', async (args, text) => {
    const answer = await sessionOf('search').call('call_tool', args as Record<string, unknown>);
    expect(answer).toEqual(bad(text));
  });

  test('the instructions say how to reach what is not listed', async () => {
    const [full, ...others] = MODES.map((mode) => sessionOf(mode).client.getInstructions() ?? '');
    for (const text of others) expect(text.slice(full?.length)).toMatch(/^\n.*search_tools.*\.$/);
    expect(full).not.toContain('search_tools');
  });
});

describe('both spellings', () => {
  test('C1 --tool-names contract spells lists and answers alike', async () => {
    const session = await startSession({ args: ['--tool-names', 'contract', '--list', 'lightweight'] });
    const listedNames = (await listed(session)).map(({ name }) => name);
    const { tools } = await search(session, { query: 'who_calls' });
    const schema = (await listed(session)).find(({ name }) => name === 'who-calls')?.inputSchema;
    await session.close();
    expect(listedNames).toEqual(expect.arrayContaining(['apropos-search', 'who-calls']));
    // Other tools name it as their neighbour.
    expect(tools[0]?.name).toBe('who-calls');
    expect(schema).toMatchObject({
      description: 'Use search_tools with query:"who-calls" to get full schema',
    });
  });
});

describe('the package', () => {
  const CONTRACT = [
    'AGENT_Q_REGISTRY',
    'TOOL_CATALOG',
    'ToolRegistry',
    'closeImage',
    'defineTool',
    'executeSearchTools',
    'executeToolCall',
    'getAgentQTools',
    'getCatalogSummary',
    'getLightweightToolList',
    'getSearchToolsDefinition',
    'getTool',
    'getToolListForMCP',
    'listRegisteredTools',
    'registerAgentQTools',
    'registerTool',
    'searchTools',
    'toMCPTool',
    'toolToSchema',
    'toolsToSchema',
  ];

  test('S1.18 C28 exports the names of the contract, and what they give is what the server gives', async () => {
    const exported = await library();
    expect(Object.keys(exported).sort()).toEqual(CONTRACT);
    const session = sessionOf('full');
    for (const mode of ['full', 'lightweight', 'summary'] as const) {
      const tools = await listed(sessionOf(mode));
      expect(exported.getToolListForMCP({ mode }).tools).toEqual(tools);
    }
    expect(exported.getToolListForMCP({})).toEqual(exported.getToolListForMCP({ mode: 'lightweight' }));
    const light = (await listed(sessionOf('lightweight'))).slice(1);
    expect(
      exported
        .getLightweightToolList()
        .map((tool) => [
          tool.name,
          `[${tool.category}] ${tool.description}${tool.hasCEMCPDirective ? ' (CE-MCP)' : ''}`,
        ]),
    ).toEqual(light.map(({ name, description }) => [name, description]));
    expect(exported.getSearchToolsDefinition()).toEqual((await listed(session))[0]);
    for (const args of [
      {},
      { query: 'find usages of a function' },
      { category: 'workflow', includeSchema: true },
    ] as const) {
      expect(exported.executeSearchTools(args)).toEqual(await search(session, args));
    }
    expect([...exported.TOOL_CATALOG.keys()]).toEqual(NAMES);
    expect(exported.getCatalogSummary().totalTools).toBe(NAMES.length);
  });
});
