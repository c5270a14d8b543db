// S1.15: what a request in plain words finds, over the catalog of all tools.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Catalog } from '../../src/catalog/catalog.ts';
import type { ToolSearchOptions } from '../../src/catalog/search.ts';
import { executeSearchTools, searchTools, TOOL_CATALOG } from '../../src/index.ts';
import { PROJECT } from '../harness.ts';
import { catalogOf, SEA } from './catalogs.ts';

interface Request {
  query: string;
  tools: string[];
}

function requests(file: string): Request[] {
  return JSON.parse(readFileSync(join(PROJECT, 'bench', 'ranking', `${file}.json`), 'utf8'));
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
      ['whale_song', 'ranked', undefined],
    ]);
    expect([totalCount, categories.workflow, categories.analysis]).toEqual([2, 1, 1]);
  });

  test('S1.15 filters hold for ranked tools, and limits count them', () => {
    const query = 'whale watching';
    expect(marked({ query, category: 'clos' }, SEA)).toEqual(['whale_song?']);
    expect(marked({ query, complexity: 'moderate' }, SEA)).toEqual(['boat']);
    expect(searchTools({ query, limit: 1 }, SEA).totalCount).toBe(2);
    expect(marked({ query, limit: 1 }, SEA)).toEqual(['boat']);
  });

  test('S1.15 S1.10 an item that was ranked says so, and has its schema on request', () => {
    const [item] = executeSearchTools({ query: 'zebras', includeSchema: true }, SEA).tools;
    expect(item).toMatchObject({ name: 'zebra', match: 'ranked', inputSchema: { type: 'object' } });
    expect(executeSearchTools({ query: 'zebra' }, SEA).tools[0]).not.toHaveProperty('match');
  });

  test.each(['', ' ', '?!', '\0', '((((', 'the', 'qwrtzp', '日本語', '\ud800', '*', 'a'.repeat(100_000)])(
    'S1.15 nothing comes of nonsense: %j',
    (query) => {
      const ranked = searchTools({ query }, SEA).tools.filter(({ match }) => match === 'ranked');
      expect(ranked).toEqual([]);
    },
  );

  test.each([...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'then'])(
    'S1.15 the word %s is one like any other',
    (word) => {
      expect(searchTools({ query: word }).totalCount).toBeLessThan(7);
      expect(marked({ query: `callers of the ${word}` })).toContain('who_calls?');
    },
  );

  test('S1.15 no query breaks a search, and every tool is found at most once', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })), (query) => {
        const { tools, totalCount } = searchTools({ query, limit: 0 });
        expect(new Set(tools.map(({ name }) => name)).size).toBe(totalCount);
      }),
      { numRuns: 500 },
    );
  });

  test('S1.15 the ranking follows the catalog as it changes', () => {
    const one = catalogOf([{ name: 'one', description: 'Paint fences.' }]);
    const two = catalogOf([{ name: 'two', description: 'Paint doors.' }]);
    expect(marked({ query: 'painting fences' }, one)).toEqual(['one?']);
    expect(marked({ query: 'painting fences' }, two)).toEqual(['two?']);
    expect(marked({ query: 'painting fences' }, one)).toEqual(['one?']);
  });
});

describe('requests as agents make them', () => {
  // What is held out is measured by the bench only, so that a run of the tests is no look at it.
  test('S1.15 of those for tuning, 95 of 100 have their tool among the first three', () => {
    const all = requests('requests');
    const missed = all.filter(({ query, tools }) => {
      const first = searchTools({ query, limit: 3 }).tools.map(({ name }) => name);
      return !tools.some((tool) => first.includes(tool));
    });
    expect(all.length).toBeGreaterThan(600);
    expect(missed.length / all.length).toBeLessThanOrEqual(0.05);
  });

  test('S1.15 of the foreign ones for tuning, fewer than one tool is found on average', () => {
    const all = requests('foreign');
    const found = all.reduce((sum, { query }) => sum + searchTools({ query }).totalCount, 0);
    expect(all.length).toBeGreaterThan(100);
    expect(found / all.length).toBeLessThan(1);
  });

  test('every tool that a request should find is in the catalog', () => {
    const wanted = new Set(['requests', 'held-out'].flatMap(requests).flatMap(({ tools }) => tools));
    expect([...wanted].filter((name) => !TOOL_CATALOG.has(name))).toEqual([]);
    expect([...TOOL_CATALOG.keys()].filter((name) => !wanted.has(name))).toEqual([]);
  });
});
