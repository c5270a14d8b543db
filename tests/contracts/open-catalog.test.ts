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
    own.add({ name: 'paint' }, ['make the wall nice']);
    expect(names('a nice wall', own)).toEqual(['paint']);
    own.clear();
    expect(names('a nice wall', own)).toEqual([]);
  });

  const EXAMPLE =
    'Each line must be JSON such as {"name": "get_weather", "description": "Tell the weather."}.';

  test.each([
    ['{"name": 5}', 'Its name must be a string.'],
    ['{"description": "x"}', 'It must have a name.'],
    ['{"name": ""}', 'It must have a name.'],
    ['null', 'It must be an object.'],
    ['{"name": "x", "keywords": "a"}', 'Its keywords must be a list of strings.'],
    ['{"name": "x", "server": 1}', 'Its server must be a string.'],
    [
      '{"name": "x", "inputSchema": []}',
      'Its inputSchema must be an object, and so must the properties in it.',
    ],
    [
      '{"name": "x", "inputSchema": {"properties": null}}',
      'Its inputSchema must be an object, and so must the properties in it.',
    ],
  ])('the line %s is refused with its number', (line, why) => {
    expect(() => readCatalog(`\n${line}`)).toThrow(`Line 2 of the catalog is no tool: ${why} ${EXAMPLE}`);
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
    expect([none.code, none.stdout]).toEqual([0, 'No tool has a word of this: qwrtzp\n']);
  });

  test('without a file it searches the built-in tools', async () => {
    const { stdout } = await run(['search', 'find callers of a function']);
    expect(stdout.split('\n')[0]).toMatch(/^who_calls +ranked +Find the functions that call a given one/);
    expect(stdout).toMatch(/\nThen: \w+(, \w+)*\n/);
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
