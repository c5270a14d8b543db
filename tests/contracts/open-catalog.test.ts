// Tools that nobody has registered here: what a program or a file gives is searched as our own tools are.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  executeSearchTools,
  type ForeignTool,
  OpenCatalog,
  readCatalog,
  searchTools,
} from '../../src/index.ts';
import { run } from '../cli/run.ts';
import { temporaryFolder } from '../harness.ts';

const LINES = [
  {
    name: 'get_forecast',
    description: 'Tell the weather of a place. Days ahead can be given.',
    server: 'sky',
    category: 'research',
    inputSchema: { type: 'object', properties: { city: { type: 'string', description: 'Name of a city' } } },
  },
  { name: 'sendMail', description: 'Send a message to somebody.', keywords: ['email', 'inbox'] },
  { name: 'search', server: 'web', description: 'Find pages.' },
  { name: 'search', server: 'shop', description: 'Find articles to buy.' },
];
const TEXT = LINES.map((line) => JSON.stringify(line)).join('\n\n');

function names(query: string, catalog: OpenCatalog): (string | undefined)[] {
  return searchTools({ query }, catalog).tools.map(({ id, name }) => id ?? name);
}

describe('a catalog of others', () => {
  const catalog = readCatalog(TEXT);

  test('its texts, parameters and keywords are searched, and names of several servers stay apart', () => {
    expect([...catalog.keys()]).toEqual(['sky/get_forecast', 'sendMail', 'web/search', 'shop/search']);
    expect(names('will it rain in that city', catalog)).toEqual(['sky/get_forecast']);
    expect(names('write an email to Bob', catalog)).toEqual(['sendMail']);
    expect(names('send mail', catalog)).toEqual(['sendMail']);
    expect(names('articles in the shop', catalog)[0]).toBe('shop/search');
    expect(names('search', catalog)).toEqual(['web/search', 'shop/search']);
    expect(names('sendmail get_forecast', catalog)).toEqual(['sendMail', 'sky/get_forecast']);
  });

  test('filters and schemas are those of search_tools', () => {
    const { tools, summary } = executeSearchTools({ category: 'research', includeSchema: true }, catalog);
    expect(tools[0]).toMatchObject({
      name: 'get_forecast',
      category: 'research',
      inputSchema: LINES[0]?.inputSchema,
    });
    expect(summary).toMatchObject({ totalFound: 1, totalInCatalog: 4 });
  });

  test('a tool can be added, replaced and taken out', () => {
    const own = new OpenCatalog();
    own.add({ name: 'paint', description: 'Paint a fence.' });
    expect(names('painting fences', own)).toEqual(['paint']);
    own.add({ name: 'paint', description: 'Paint a door.' });
    expect(names('fences', own)).toEqual([]);
    expect(names('doors', own)).toEqual(['paint']);
    own.delete('paint');
    expect([names('doors', own), own.size]).toEqual([[], 0]);
    own.add({ name: 'paint', description: 'Paint a wall.' });
    expect(names('painting walls', own)).toEqual(['paint']);
    own.clear();
    expect(names('painting walls', own)).toEqual([]);
  });

  const EXAMPLE =
    'Each line must be JSON such as {"name": "get_weather", "description": "Tell the weather."}.';

  test.each([
    ['{"name": 5}', 'Its name must be a string.'],
    ['{"description": "x"}', 'It must have a name.'],
    ['{"name": ""}', 'It must have a name.'],
    ['null', 'It must be an object.'],
    ['[{"name": "x"}]', 'It must be an object.'],
    [
      '{"name": "x", "inputSchema": "y"}',
      'Its inputSchema must be an object, and so must inputSchema.properties.',
    ],
    ['{"name": "x", "keywords": "a"}', 'Its keywords must be a list of strings.'],
    ['{"name": "x", "server": 1}', 'Its server must be a string.'],
    [
      '{"name": "x", "inputSchema": []}',
      'Its inputSchema must be an object, and so must inputSchema.properties.',
    ],
    [
      '{"name": "x", "inputSchema": {"properties": null}}',
      'Its inputSchema must be an object, and so must inputSchema.properties.',
    ],
  ])('the line %s is refused with its number', (line, why) => {
    expect(() => readCatalog(`\n${line}`)).toThrow(`Line 2 of the catalog is no tool: ${why} ${EXAMPLE}`);
  });

  test('the line that is no JSON is refused with its number', () => {
    expect(() => readCatalog('{"name": "x"}\n{"name": ')).toThrow(
      /^Line 2 of the catalog is no tool: .*JSON.*\. Each line must be JSON such as /,
    );
  });

  test('null is absent, a mark of the encoding and ends of lines are passed over, of two with one id the later counts', () => {
    const nothing = {
      description: null,
      inputSchema: null,
      keywords: null,
      category: null,
      server: null,
      id: null,
    };
    const lines = [
      { name: 'paint', ...nothing },
      { name: 'sing' },
      { name: 'sing', description: 'Sing loudly.' },
    ];
    const own = readCatalog(`\ufeff${lines.map((line) => JSON.stringify(line)).join('\r\n')}\r\n`);
    expect([...own.values()].map(({ name, fullDescription }) => [name, fullDescription])).toEqual([
      ['paint', ''],
      ['sing', 'Sing loudly.'],
    ]);
    expect(own.get('paint')).toStrictEqual(new OpenCatalog().add({ name: 'paint' }));
  });

  test('a schema that is no JSON is refused, one with references is taken', () => {
    const round: { properties: { [name: string]: unknown } } = { properties: {} };
    round.properties['self'] = round;
    expect(() => new OpenCatalog().add({ name: 'x', inputSchema: round })).toThrow(
      'Its inputSchema must be JSON: Converting circular structure to JSON.',
    );
    expect(() => new OpenCatalog().add({ name: 'x', inputSchema: { limit: 5n } })).toThrow(
      'Its inputSchema must be JSON: Do not know how to serialize a BigInt.',
    );
    const inputSchema = {
      type: 'object',
      properties: { town: { $ref: '#/$defs/town' } },
      $defs: { town: {} },
    };
    const own = new OpenCatalog();
    expect(own.add({ name: 'x', inputSchema }).inputSchema).toBe(inputSchema);
    expect(names('towns', own)).toEqual(['x']);
  });

  test('S1.10 what tells tools of one name apart is a part of the answer, and a query finds it', () => {
    expect(executeSearchTools({ query: 'search' }, catalog).tools).toMatchObject([
      { name: 'search', id: 'web/search' },
      { name: 'search', id: 'shop/search' },
    ]);
    expect(names('shop/search', catalog)).toEqual(['shop/search', 'web/search']);
    expect(executeSearchTools({ query: 'search articles', limit: 1 }, catalog).more).toEqual(['web/search']);
    expect(executeSearchTools({ query: 'send mail' }, catalog).tools[0]).not.toHaveProperty('id');
  });

  test('C27 names with spaces and signs, in any case, are found as they stand and in lists', () => {
    const own = readCatalog(
      ['Get Weather Alerts', 'Get Weather', 'C++', 'x', 'tool', 'toolbox', 'Straße?']
        .map((name) => JSON.stringify({ name }))
        .join('\n'),
    );
    const first = (query: string, count: number) => names(query, own).slice(0, count);
    expect(first('get weather', 2)).toEqual(['Get Weather', 'Get Weather Alerts']);
    expect(first('Get weather, tool; X', 3)).toEqual(['Get Weather', 'tool', 'x']);
    expect(first('c++', 1)).toEqual(['C++']);
    expect(first('straße?', 1)).toEqual(['Straße?']);
    expect(first('TOOL', 2)).toEqual(['tool', 'toolbox']);
    expect(first('[x] **tool**', 2)).toEqual(['x', 'tool']);
  });

  test('C27 ten thousand tools of one name are found, each once', () => {
    const own = new OpenCatalog();
    for (let at = 0; at < 10_000; at++)
      own.add({ name: 'search', server: `s${at}`, description: 'Find pages.' });
    for (const query of ['search', 'SEARCH', 'find pages', 'search for pages']) {
      const { tools, totalCount } = searchTools({ query }, own);
      expect([totalCount, tools[0]?.id]).toEqual([10_000, 's0/search']);
    }
  });

  test('S1.15 a request in another script finds its tool', () => {
    const own = new OpenCatalog();
    own.add({ name: 'recipe', description: '요리 레시피를 검색합니다. 스테이크도 있습니다.' });
    own.add({ name: 'code', description: 'GitHubのコードを検索する。' });
    own.add({ name: 'hindi', description: 'हिन्दी में मौसम बताता है' });
    own.add({ name: 'bar', description: 'Find a cafe\u0301.' });
    expect(names('스테이크 만드는 법', own)).toEqual(['recipe']);
    expect(names('search GitHub for me', own)).toEqual(['code']);
    expect(names('コード', own)).toEqual(['code']);
    expect(names('आज का मौसम', own)).toEqual(['hindi']);
    expect(names('caf\u00e9 nearby', own)).toEqual(['bar']);
  });

  test('whatever a tool has of the right kinds can be searched', () => {
    const schema = fc.record({ properties: fc.dictionary(fc.string(), fc.anything()) });
    const tool = fc.record(
      {
        name: fc.string({ minLength: 1 }),
        description: fc.string(),
        inputSchema: schema,
        server: fc.string(),
      },
      { requiredKeys: ['name'] },
    ) as fc.Arbitrary<ForeignTool>;
    fc.assert(
      fc.property(tool, fc.string(), (each, query) => {
        const own = new OpenCatalog();
        own.add(each);
        expect(searchTools({ query: each.name }, own).totalCount).toBe(1);
        expect(searchTools({ query }, own).totalCount).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('live-lisp search', () => {
  const folder = temporaryFolder();
  const file = join(folder.path, 'tools.jsonl');
  writeFileSync(file, TEXT);

  test('it prints what a search over a file of tools finds', async () => {
    expect(await run(['search', '--catalog', file, 'mail', 'message'])).toMatchObject({
      code: 0,
      stdout: 'sendMail  ranked   Send a message to somebody.\n',
    });
    const none = await run(['search', '--catalog', file, 'qwrtzp']);
    expect([none.code, none.stdout]).toEqual([
      0,
      'No tool matches any word of: qwrtzp. Say in other words what the tool should do.\n',
    ]);
  });

  test('without a file it searches the built-in tools', async () => {
    const { stdout } = await run(['search', 'find callers of a function']);
    expect(stdout.split('\n')[0]).toMatch(/^who_calls +ranked +Find the functions that call a given one/);
    expect(stdout).toMatch(/\nFurther matches: \w+(, \w+)*\n/);
  });

  test.each([
    [['search'], 'The command search takes what to look for: live-lisp search "find callers".'],
    [
      ['search', '--catalog', '/nowhere.jsonl', 'x'],
      "--catalog /nowhere.jsonl cannot be used: ENOENT: no such file or directory, open '/nowhere.jsonl'",
    ],
    [['tools', '--catalog', 'x'], 'The flag --catalog is for search, not for tools.'],
  ])('%j is refused', async (args, text) => {
    expect(await run(args)).toMatchObject({ code: 2, stderr: `live-lisp: ${text}\n` });
  });
});
