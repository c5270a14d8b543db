// S1.15: what a request in plain words finds, over the catalog of all tools.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Catalog } from '../../src/catalog/catalog.ts';
import type { ToolSearchOptions } from '../../src/catalog/search.ts';
import { executeSearchTools, searchTools, TOOL_CATALOG } from '../../src/index.ts';
import { anyText } from '../any-text.ts';
import { PROJECT } from '../harness.ts';
import { catalogOf, foreignCatalog, SEA } from './catalogs.ts';

interface Request {
  query: string;
  gold: string[];
}

function requests(file: string): Request[] {
  const text = readFileSync(join(PROJECT, 'bench', 'ranking', file), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Returns the names that OPTIONS find, those that only the ranking found with a question mark. */
function marked(options: ToolSearchOptions, catalog: Catalog = TOOL_CATALOG): string[] {
  return searchTools(options, catalog).tools.map(({ name, match }) => (match ? `${name}?` : name));
}

describe('literal hits and ranked ones', () => {
  test('S1.15 the contract has two requests that must find their tools', () => {
    expect(marked({ query: 'who calls this function' })[0]).toBe('who_calls?');
    expect(marked({ query: 'apropos search' })[0]).toBe('apropos_search?');
  });

  test('S1.15 where a request has hardly any word of its own, its stop words decide', () => {
    expect(marked({ query: 'where is this function used' })[0]).toBe('who_calls?');
    expect(marked({ query: 'which functions use this function' })[0]).toBe('who_calls?');
    expect(marked({ query: 'where is this used' })[0]).toBe('who_calls?');
    expect(marked({ query: 'what can you do here' })[0]).toBe('search_tools?');
  });

  test('S1.15 one word with literal hits answers exactly those', () => {
    const { tools } = searchTools({ query: 'whale' }, SEA);
    expect(tools.map(({ name, match }) => [name, match])).toEqual([
      ['whale_song', undefined],
      ['boat', undefined],
      ['anchor', undefined],
      ['net', undefined],
    ]);
  });

  test('S1.15 one word without a literal hit is ranked', () => {
    expect(marked({ query: 'singing' }, SEA)).toEqual(['whale_song?']);
    expect(marked({ query: 'zebras' }, SEA)).toEqual(['zebra?']);
  });

  test('S1.15 with several words the literal hits come first with their score, the ranked follow', () => {
    const { tools, totalCount, categories } = searchTools({ query: 'whale watching' }, SEA);
    expect(tools.map(({ name, match, searchScore }) => [name, match, searchScore])).toEqual([
      ['boat', undefined, 50],
      ['whale_song', 'weak', undefined],
      ['anchor', 'weak', undefined],
      ['net', 'weak', undefined],
    ]);
    expect([totalCount, categories.workflow, categories.analysis]).toEqual([4, 1, 1]);
  });

  test('S1.15 filters hold for ranked tools, and limits count them', () => {
    const query = 'whale watching';
    expect(marked({ query, category: 'clos' }, SEA)).toEqual(['whale_song?']);
    expect(marked({ query, complexity: 'moderate' }, SEA)).toEqual(['boat']);
    expect(searchTools({ query, limit: 1 }, SEA).totalCount).toBe(4);
    expect(marked({ query, limit: 1 }, SEA)).toEqual(['boat']);
  });

  test('S1.15 S1.10 an item that was ranked says so, and has its schema on request', () => {
    const [item] = executeSearchTools({ query: 'zebras', includeSchema: true }, SEA).tools;
    expect(item).toMatchObject({ name: 'zebra', match: 'ranked', inputSchema: { type: 'object' } });
    expect(executeSearchTools({ query: 'zebra' }, SEA).tools[0]).not.toHaveProperty('match');
  });

  test.each(['', '?!', 'the', 'qwrtzp', '\ud800', 'a'.repeat(100_000)])(
    'S1.15 nothing comes of nonsense: %j',
    (query) => {
      const ranked = searchTools({ query }, SEA).tools.filter(({ match }) => match === 'ranked');
      expect(ranked).toEqual([]);
    },
  );

  test.each(['constructor', '__proto__', 'toString'])('S1.15 the word %s is one like any other', (word) => {
    const tools = searchTools({ query: word, limit: 0 }).tools.map(({ name }) => name);
    expect([...TOOL_CATALOG.keys()]).toEqual(expect.arrayContaining(tools));
    expect(marked({ query: `callers of the ${word}` })).toContain('who_calls?');
  });

  test('S1.15 no query breaks a search, and every tool is found at most once', () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), fc.string({ unit: 'grapheme' })), (query) => {
        const { tools, totalCount } = searchTools({ query, limit: 0 });
        expect(new Set(tools.map(({ name }) => name)).size).toBe(totalCount);
      }),
      { numRuns: 500 },
    );
  });

  test('S1.15 the words of a path or a prefixed name tell less than others', () => {
    const catalog = catalogOf([
      { name: 'paint', description: 'Do it.' },
      { name: 'fence', description: 'Do a fence.' },
      { name: 'lisp_src', description: 'Read it.' },
    ]);
    expect(marked({ query: 'paint a fence' }, catalog)[0]).toBe('fence?');
    for (const name of ['fence.lisp', 'src/fence.lisp', 'fence:lisp', '*fence*']) {
      expect(marked({ query: `paint in ${name}` }, catalog)[0]).toBe('paint?');
    }
  });

  test('S1.15 the ranking follows the catalog as it changes', () => {
    const one = catalogOf([{ name: 'one', description: 'Paint fences.' }]);
    const two = catalogOf([{ name: 'two', description: 'Paint doors.' }]);
    expect(marked({ query: 'painting fences' }, one)).toEqual(['one?']);
    expect(marked({ query: 'painting fences' }, two)).toEqual(['two?']);
    expect(marked({ query: 'painting fences' }, one)).toEqual(['one?']);
  });
});

describe('weak matches, and names', () => {
  test('C32 a tool with little of what the query is about is marked, and none is left out', () => {
    const { tools } = searchTools({ query: 'sing the anthem of the national football championship' }, SEA);
    expect(tools.map(({ name, match }) => [name, match])).toEqual([['whale_song', 'weak']]);
    expect(searchTools({ query: 'sing whale songs' }, SEA).tools[0]).toMatchObject({ match: 'ranked' });
  });

  test('C32 what a side text alone has covers little, and what a name has covers all', () => {
    const tools = catalogOf([
      { name: 'pool', description: 'Fill a basin. Turtles like swimming there.' },
      { name: 'turtle_swimming', description: 'Go.' },
    ]);
    expect(searchTools({ query: 'swimming of turtles' }, tools).tools).toMatchObject([
      { name: 'turtle_swimming', match: 'ranked' },
      { name: 'pool', match: 'weak' },
    ]);
  });

  test('C32 when all are weak the answer says so', () => {
    const { note } = executeSearchTools({ query: 'sing the anthem of the football championship' }, SEA);
    expect(note).toBe(
      'All matches are weak: they share only some words with the query, so look at one before you call it.',
    );
    expect(executeSearchTools({ query: 'sing whale songs' }, SEA)).not.toHaveProperty('note');
  });

  test('C32 when nothing was found the answer says how to go on', () => {
    const note =
      'No tool matches any word of the query: say in other words what the tool should do, or leave query out to list the tools.';
    expect(executeSearchTools({ query: 'qwrtzp' }, SEA)).toMatchObject({ tools: [], note });
    expect(executeSearchTools({ query: 'thanks, whoever' })).toMatchObject({ tools: [], note });
    expect(executeSearchTools({ query: 'zebras' }, SEA)).not.toHaveProperty('note');
    expect(executeSearchTools({ query: 'whale', category: 'research' }, SEA)).not.toHaveProperty('note');
    expect(executeSearchTools({ query: '' }, catalogOf([]))).not.toHaveProperty('note');
  });

  test('C32 whether a query is literal or ranked is decided before the filters', () => {
    expect(marked({ query: 'whale', category: 'research' }, SEA)).toEqual([]);
    expect(marked({ query: 'whale' }, SEA)).toHaveLength(4);
  });

  test.each([
    ['describe_symbol who_calls eval_form', ['describe_symbol', 'who_calls', 'eval_form']],
    ['load-system, interrupt', ['load_system', 'interrupt']],
    ['- `who-calls`\n- *debug*\n- [Eval_Form]', ['who_calls', 'debug', 'eval_form']],
    [
      'class_slots read_file who_calls get_last_error restart_image interrupt load_system',
      [
        'class_slots',
        'read_file',
        'who_calls',
        'get_last_error',
        'restart_image',
        'interrupt',
        'load_system',
      ],
    ],
  ])('C27 the names in %j are all found, first and in their order', (query, names) => {
    expect(
      searchTools({ query })
        .tools.map(({ name }) => name)
        .slice(0, names.length),
    ).toEqual(names);
  });

  test('C27 a name in a sentence is found first, and a word of the sentence is no name', () => {
    const first = (query: string) => searchTools({ query }).tools[0];
    expect(first('what does the tool get_audit_log return')?.name).toBe('get_audit_log');
    expect(first('does an interrupt of the evaluation lose definitions? see eval-form')?.name).toBe(
      'eval_form',
    );
  });

  test('C27 more than eight keywords only rank', () => {
    const keywords = Array.from({ length: 9 }, (_, at) => `colour${at}`);
    const catalog = catalogOf([{ name: 'paint', description: 'Do it.', keywords }]);
    expect(searchTools({ query: 'colour7' }, catalog).tools[0]?.searchScore).toBe(50);
    expect(searchTools({ query: 'colour8' }, catalog).tools[0]).toMatchObject({ match: 'ranked' });
  });
});

test('S1.10 S1.18 an entry says all that is known of its tool, the schema when it is asked for', () => {
  const foreign = foreignCatalog([{ name: 'whale_song', server: 'sea', fullDescription: 'Sing.' }]);
  for (const catalog of [TOOL_CATALOG, foreign]) {
    for (const schema of [true, false]) {
      for (const { isHighTokenCost, ...entry } of searchTools({ includeSchema: schema, limit: 0 }, catalog)
        .tools) {
        const { inputSchema, ...known } = catalog.get(entry.id ?? entry.name) ?? {};
        expect(entry).toStrictEqual(schema ? { ...known, inputSchema } : known);
        expect(isHighTokenCost).toBe(entry.tokenCost.max > 5000);
      }
    }
  }
});

describe('how many tools an answer has', () => {
  const many = catalogOf(
    Array.from({ length: 40 }, (_, at) => ({
      name: `tool_${at}`,
      description: `Paint the fences number ${at}.`,
    })),
  );

  test('S1.15 S1.8 five that were ranked, then the names of fifteen, and how many there are', () => {
    const answer = executeSearchTools({ query: 'fence painting' }, many);
    expect([answer.tools.length, answer.more?.length, answer.summary.totalFound]).toEqual([5, 15, 40]);
    expect(answer.tools.map(({ name }) => name)).not.toContain(answer.more?.[0]);
  });

  test('S1.8 twenty literal hits, and no names behind one word', () => {
    const answer = executeSearchTools({ query: 'fences' }, many);
    expect([answer.tools.length, answer.more, answer.summary.totalFound]).toEqual([20, undefined, 40]);
  });

  test('S1.8 C21 as many as are asked for', () => {
    const sizes = [1, 7, 30, 0].map((limit) => executeSearchTools({ query: 'fence painting', limit }, many));
    expect(sizes.map(({ tools, more = [] }) => [tools.length, more.length])).toEqual([
      [1, 15],
      [7, 15],
      [30, 10],
      [40, 0],
    ]);
  });
});

describe('requests as agents make them', () => {
  const all = requests('requests.jsonl');

  test.each([
    ['that the words were chosen with, 90', 'requests.jsonl', 1900, 0.1],
    ['that no word was chosen by, 95', 'unseen.jsonl', 120, 0.05],
  ])('S1.15 of those %s of 100 have their tool among the first three', (_, file, atLeast, share) => {
    const served = requests(file).filter(({ gold }) => gold.length > 0);
    const missed = served.filter(({ query, gold }) => {
      const first = searchTools({ query, limit: 3 }).tools.map(({ name }) => name);
      return !gold.some((tool) => first.includes(tool));
    });
    expect(served.length).toBeGreaterThan(atLeast);
    expect(missed.length / served.length).toBeLessThanOrEqual(share);
  });

  test('C32 of those that no tool serves, 10 of 100 have an answer that is not marked as weak', () => {
    const foreign = all.filter(({ gold }) => gold.length === 0);
    const unmarked = foreign.filter(({ query }) =>
      searchTools({ query }).tools.some(({ match }) => match !== 'weak'),
    );
    expect(foreign.length).toBeGreaterThan(150);
    expect(unmarked.length / foreign.length).toBeLessThanOrEqual(0.1);
  });

  test('every tool that a request should find is in the catalog', () => {
    const wanted = new Set(all.flatMap(({ gold }) => gold));
    expect([...wanted].filter((name) => !TOOL_CATALOG.has(name))).toEqual([]);
    expect([...TOOL_CATALOG.keys()].filter((name) => !wanted.has(name))).toEqual([]);
  });
});
