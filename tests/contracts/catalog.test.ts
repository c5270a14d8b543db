// The catalog: the tools of one registry as it is now, which two registries do not share.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assemble } from '../../src/assembly.ts';
import { Catalog } from '../../src/catalog/catalog.ts';
import {
  answerSearchTools,
  type SearchToolsResult,
  searchToolsTool,
} from '../../src/catalog/search-tools.ts';
import { readConfig } from '../../src/config.ts';
import { TOOL_CATALOG } from '../../src/index.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import { MOST_KEYWORDS, type Result, type Tool } from '../../src/kernel/tool.ts';
import { PROJECT } from '../harness.ts';
import { registryOf } from './catalogs.ts';
import { probe } from './tools.ts';

describe('the catalog', () => {
  test('S1.7 it is what its registry holds now, in the order of registration', () => {
    const registry = registryOf(probe({ name: 'first' }).tool);
    const catalog = new Catalog(registry);
    expect([...catalog.keys()]).toEqual(['first']);
    registry.register(probe({ name: 'second' }).tool);
    registry.register(probe({ name: 'first', description: 'Changed.' }).tool);
    expect([...catalog].map(([name, { shortDescription }]) => [name, shortDescription])).toEqual([
      ['first', 'Changed.'],
      ['second', 'Notes what it was called with.'],
    ]);
    expect([catalog.size, catalog.has('second'), catalog.get('third')]).toEqual([2, true, undefined]);
  });

  test('C28 two registries in one process have two catalogs, each with its own search_tools', async () => {
    const catalogs = ['paint_fence', 'paint_door'].map((name) => {
      const registry = registryOf(probe({ name, description: 'Paint it green.' }).tool);
      const catalog = new Catalog(registry);
      registry.registerUncounted(searchToolsTool(() => catalog));
      return { registry, catalog };
    });
    const asked = catalogs.map(async ({ registry }) => {
      const answer = await registry.getTool('search_tools')?.handler({ query: 'painting' }, {});
      return (answer as { data: SearchToolsResult }).data.tools.map(({ name }) => name);
    });
    expect(await Promise.all(asked)).toEqual([['paint_fence'], ['paint_door']]);
    expect(catalogs.map(({ catalog }) => [...catalog.keys()])).toEqual([
      ['paint_fence', 'search_tools'],
      ['paint_door', 'search_tools'],
    ]);
  });

  test('C5 a tool that is registered apart can be found and called, and no list of the contract has it', () => {
    const registry = registryOf(probe({ name: 'counted' }).tool);
    const apart = registry.registerUncounted(probe({ name: 'apart' }).tool);
    expect(registry.getTool('apart')).toBe(apart);
    expect([...new Catalog(registry).keys()]).toEqual(['counted', 'apart']);
    expect(registry.listRegisteredTools()).toEqual(['counted']);
    expect(registry.getAgentQTools().map(({ name }) => name)).toEqual(['counted']);
    const mine = registry.register(probe({ name: 'apart' }).tool);
    expect(registry.registerUncounted(apart)).toBe(mine);
    expect(registry.tools().map(({ name }) => name)).toEqual(['counted', 'apart']);
  });

  test('C7 S1.10 a tool may have any name, and nobody can change the schema of another reader', () => {
    const catalog = new Catalog(registryOf(probe({ name: 'constructor' }).tool));
    const [tool] = answerSearchTools({ includeSchema: true }, catalog).tools;
    expect(tool?.tokenCost).toEqual({ min: expect.any(Number), max: expect.any(Number) });
    expect(() => Object.assign(tool?.inputSchema?.properties ?? {}, { more: {} })).toThrow(TypeError);
  });

  test('C13 what has no room in one answer is left out whole, and the answer says so', async () => {
    const registry = new ToolRegistry();
    for (let index = 10; index < 90; index++) {
      const description = `${'All about it. '.repeat(60)}`;
      registry.register(probe({ name: `long_${index}`, description, shortDescription: description }).tool);
    }
    const tool = searchToolsTool(() => new Catalog(registry));
    const { text, data } = (await tool.handler({ limit: 0 }, {})) as Result;
    const shown = (data as { tools: unknown[] }).tools.length;
    expect(text.length).toBeLessThan(40_000);
    expect(JSON.parse(text)).toEqual(data);
    expect(data).toMatchObject({
      summary: { totalFound: 80 },
      note: `Only the first ${shown} of 80 tools have room in one answer; narrow the search with query or category, or leave includeSchema out.`,
    });
    expect(shown).toBeGreaterThan(30);
  });
});

describe('the words of the tools', () => {
  const file = join(PROJECT, 'src', 'catalog', 'words.json');
  const lines: { [tool: string]: string } = JSON.parse(readFileSync(file, 'utf8'));

  test('a definition shows at most eight keywords; the other words are data of tools that there are', () => {
    const tools = builtInTools();
    expect(tools.filter(({ keywords }) => keywords.length > MOST_KEYWORDS)).toEqual([]);
    expect(Object.keys(lines)).toEqual(tools.map(({ name }) => name).sort());
  });

  test('each tool has 20 to 60 single words, each once', () => {
    for (const { name, words } of TOOL_CATALOG.values()) {
      expect(lines[name]).toBe(words.join(' '));
      expect(words.length).toBeGreaterThanOrEqual(20);
      expect(words.length).toBeLessThanOrEqual(60);
      expect([name, new Set(words).size]).toEqual([name, words.length]);
    }
  });

  test('no client is shown them: each description is the tool’s own, and none ends in a heap of words', () => {
    const own = new Map(builtInTools().map(({ name, description }) => [name, description]));
    for (const { name, fullDescription, inputSchema } of TOOL_CATALOG.values()) {
      expect([name, fullDescription]).toEqual([name, own.get(name.replace('-', '_')) ?? fullDescription]);
      expect(`${fullDescription} ${JSON.stringify(inputSchema)}`).not.toMatch(/\bAlso: /);
    }
  });
});

/** Returns the built-in tools, none of which runs. */
function builtInTools(): Tool[] {
  return assemble(readConfig(['--root', PROJECT], {})).registry.tools();
}
