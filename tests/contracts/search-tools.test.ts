// S1 below the protocol: what a search finds, in what order, with which numbers.

import { describe, expect, test } from 'vitest';
import { Catalog, catalogSummary } from '../../src/catalog/catalog.ts';
import { CATEGORY_FILTERS, TOOL_CATEGORIES } from '../../src/catalog/metadata.ts';
import { searchCatalog, type ToolSearchOptions } from '../../src/catalog/search.ts';
import { answerSearchTools, type SearchToolsArgs } from '../../src/catalog/search-tools.ts';
import { defineTool } from '../../src/kernel/tool.ts';
import { noString } from '../said.ts';
import { catalogOf, registryOf, SEA } from './catalogs.ts';
import { VALID } from './tools.ts';

function names(options: ToolSearchOptions, catalog = SEA): string[] {
  return searchCatalog(options, catalog).tools.map(({ name }) => name);
}

function found(args: object) {
  return answerSearchTools(args as SearchToolsArgs, SEA);
}

describe('literal hits', () => {
  test('S1.2 points for name, each keyword, short and full description add up; none is left out', () => {
    const { tools, totalCount } = searchCatalog({ query: 'whale' }, SEA);
    expect(tools.map(({ name, searchScore }) => [name, searchScore])).toEqual([
      ['whale_song', 100 + 2 * 50 + 25 + 10],
      ['boat', 50],
      ['anchor', 25 + 10],
      ['net', 10],
    ]);
    expect(totalCount).toBe(4);
  });

  test('S1.3 wHaLe finds what whale finds, with the same points', () => {
    const points = (text: string) =>
      searchCatalog({ query: text }, SEA).tools.map(({ name, searchScore }) => [name, searchScore]);
    expect(points('wHaLe')).toEqual(points('whale'));
  });

  test('S1.4 equal points keep the order of the catalog', () => {
    const catalog = catalogOf(
      ['b', 'c', 'a'].map((name) => ({ name: `fish_${name}`, description: 'Swim.' })),
    );
    expect(names({ query: 'fish' }, catalog)).toEqual(['fish_b', 'fish_c', 'fish_a']);
  });

  test('S1.4 without a query the order is by name', () => {
    expect(names({})).toEqual(['anchor', 'boat', 'net', 'whale_song', 'zebra']);
  });

  test('C1 in a name - equals _', () => {
    for (const query of ['whale-song', 'WHALE_song']) {
      const { tools } = searchCatalog({ query }, SEA);
      expect(tools.map(({ name, searchScore }) => [name, searchScore])).toEqual([['whale_song', 100]]);
    }
  });

  test('S1.2 a query is a text to look for, not a pattern', () => {
    expect([names({ query: '.*' }), names({ query: 'wh.le' }), names({ query: '%' })]).toEqual([[], [], []]);
  });
});

describe('filters', () => {
  test('S1.5 category, complexity and cemcpOnly must all hold', () => {
    expect(names({ complexity: 'simple' })).toEqual(['anchor', 'net', 'zebra']);
    expect(names({ cemcpOnly: true })).toEqual(['anchor', 'boat', 'whale_song', 'zebra']);
    expect(names({ complexity: 'simple', cemcpOnly: true })).toEqual(['anchor', 'zebra']);
    expect(names({ complexity: 'simple', cemcpOnly: true, category: 'research' })).toEqual(['zebra']);
    expect(names({ query: 'whale', complexity: 'simple', cemcpOnly: true })).toEqual(['anchor']);
  });

  test('C6 category takes the one of the catalog and any of the registry', () => {
    expect(names({ category: 'analysis' })).toEqual(['whale_song']);
    expect(names({ category: 'introspection' })).toEqual(['whale_song']);
    expect(names({ category: 'clos' })).toEqual(['whale_song']);
    expect(names({ category: 'xref' })).toEqual([]);
  });

  test.each([
    [['introspection', 'execution'], 'analysis'],
    [['execution', 'introspection'], 'workflow'],
    [['xref'], 'analysis'],
    [['buffer'], 'file-system'],
    [['settings'], 'utility'],
    [['of_my_own', 'memory'], 'memory'],
    [['of_my_own'], 'utility'],
    [[], 'utility'],
  ])('C6 categories %j make the one category %s', (categories, category) => {
    const [tool] = searchCatalog({}, catalogOf([{ name: 'one', categories }])).tools;
    expect([tool?.category, tool?.categories]).toEqual([category, categories]);
  });

  const VALUES =
    'analysis, adr, content-security, research, deployment, memory, file-system, rules, workflow, utility, introspection, execution, buffer, diff, xref, clos, packages';

  test.each([
    ['category', 'nonsense', `Parameter 'category' must be one of ${VALUES}.`],
    ['complexity', 'hard', "Parameter 'complexity' must be one of simple, moderate, complex."],
  ])('S1.5 the %s %s is refused with the valid ones', (name, value, text) => {
    expect(() => found({ [name]: value })).toThrow(text);
  });

  test('S1.5 C6 every value of the enum is taken', () => {
    expect(CATEGORY_FILTERS.join(', ')).toBe(VALUES);
    for (const category of CATEGORY_FILTERS) expect(found({ category }).success).toBe(true);
  });
});

describe('numbers', () => {
  test('S1.6 C6 totals are taken before the limit; all ten categories are counted, and add up', () => {
    const { summary, tools } = found({ query: 'whale', limit: 1 });
    expect(tools.map(({ name }) => name)).toEqual(['whale_song']);
    expect(summary.totalFound).toBe(4);
    expect(Object.keys(summary.byCategory)).toEqual([...TOOL_CATEGORIES]);
    expect(summary.byCategory).toEqual({
      ...Object.fromEntries(TOOL_CATEGORIES.map((category) => [category, 0])),
      analysis: 1,
      workflow: 1,
      'file-system': 1,
      utility: 1,
    });
  });

  test('S1.7 the size of the catalog ignores filters', () => {
    expect(found({ query: 'zebra', category: 'research' }).summary).toMatchObject({
      totalFound: 1,
      totalInCatalog: 5,
    });
    expect(catalogSummary(SEA)).toMatchObject({ totalTools: 5, byCategory: { research: 1, adr: 0 } });
  });

  const many = catalogOf(Array.from({ length: 25 }, (_, index) => ({ name: `tool_${100 - index}` })));

  test('S1.8 C21 twenty unless told otherwise, after sorting; 0 is no limit', () => {
    const sorted = Array.from({ length: 25 }, (_, index) => `tool_${76 + index}`).sort();
    expect(names({}, many)).toEqual(sorted.slice(0, 20));
    expect(names({ limit: 3 }, many)).toEqual(sorted.slice(0, 3));
    expect(names({ limit: 0 }, many)).toEqual(sorted);
    expect(names({ limit: 1000 }, many)).toEqual(sorted);
    expect(searchCatalog({ limit: 3 }, many).totalCount).toBe(25);
  });

  test('S1.13 more than 5000 tokens at most is a high cost', () => {
    const [tool] = searchCatalog({}, SEA).tools;
    const costing = (max: number) =>
      new Map(
        tool && [
          [
            't',
            { ...tool, inputSchema: { type: 'object' as const, properties: {} }, tokenCost: { min: 1, max } },
          ],
        ],
      );
    expect([5000, 5001].map((max) => searchCatalog({}, costing(max)).tools[0]?.isHighTokenCost)).toEqual([
      false,
      true,
    ]);
  });

  test('C7 whether code in the image can call a tool follows from its level', () => {
    expect(found({}).tools.map(({ name, hasCEMCPDirective }) => [name, hasCEMCPDirective])).toEqual([
      ['anchor', true],
      ['boat', true],
      ['net', false],
      ['whale_song', true],
      ['zebra', true],
    ]);
  });

  test('C7 a tool that nobody has measured costs what its definition does', () => {
    const tool = defineTool({ ...VALID, name: 'unmeasured' });
    const [found] = answerSearchTools({}, new Catalog(registryOf(tool))).tools;
    expect(found?.tokenCost.min).toBeGreaterThan(10);
    expect(found?.tokenCost.max).toBe(found?.tokenCost.min);
  });
});

describe('the answer', () => {
  test('S1.10 an item has six keys', () => {
    expect(found({ query: 'net' }).tools[0]).toEqual({
      name: 'net',
      description: 'Throw a net',
      category: 'file-system',
      complexity: 'simple',
      hasCEMCPDirective: false,
      tokenCost: { min: expect.any(Number), max: expect.any(Number) },
    });
  });

  test('S1.9 the schema is there exactly when it is asked for', () => {
    const schema = { type: 'object', properties: { symbol: { type: 'string', description: 'A name' } } };
    expect(found({ query: 'net', includeSchema: true }).tools[0]?.inputSchema).toEqual(schema);
    for (const includeSchema of [false, null, undefined]) {
      expect(found({ query: 'net', includeSchema }).tools[0]).not.toHaveProperty('inputSchema');
    }
    expect(searchCatalog({ query: 'net' }, SEA).tools[0]).not.toHaveProperty('inputSchema');
  });

  test('S1.11 the query is repeated when it was given, and an empty one filters nothing', () => {
    expect(found({ query: 'net' })).toMatchObject({ success: true, query: 'net' });
    expect(found({})).not.toHaveProperty('query');
    expect(found({ query: null })).not.toHaveProperty('query');
    const { query, ...rest } = found({ query: '' });
    expect(query).toBe('');
    expect(rest).toEqual(found({}));
  });

  test.each([
    [{ limit: -1 }, "Parameter 'limit' must be a whole number from 1, or 0 for no limit, not -1."],
    [{ limit: 2.5 }, "Parameter 'limit' must be a whole number from 1, or 0 for no limit, not 2.5."],
    [{ cemcpOnly: 'false' }, "Parameter 'cemcpOnly' must be a boolean, not a string."],
    [{ query: 5 }, noString('query')],
    [
      { query: 'x'.repeat(1001) },
      "Parameter 'query' must have at most 1000 characters, not 1001; a few words are enough.",
    ],
    [
      { offset: 2 },
      "Unknown parameter 'offset'; search_tools takes category, query, complexity, cemcpOnly, includeSchema, limit.",
    ],
  ])('S1.17 C21 %j is refused by name', (args, text) => {
    expect(() => found(args)).toThrow(text);
  });

  test('S1.17 null is absent, and so is an empty choice', () => {
    const nothing = { category: null, query: null, complexity: null, cemcpOnly: null, includeSchema: null };
    expect(found({ ...nothing, limit: null })).toEqual(found({}));
    expect(found({ category: '', complexity: '' })).toEqual(found({}));
  });
});
