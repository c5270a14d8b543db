// A small catalog to search, whose texts are known to the letter.

import { Catalog } from '../../src/catalog/catalog.ts';
import type { ToolMetadata } from '../../src/catalog/metadata.ts';
import { Ranking } from '../../src/catalog/ranking.ts';
import { ToolRegistry } from '../../src/kernel/registry.ts';
import type { Tool, ToolDefinition } from '../../src/kernel/tool.ts';
import { probe } from './tools.ts';

/** Returns a registry that has TOOLS. */
export function registryOf(...tools: Tool[]): ToolRegistry {
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  return registry;
}

/** Returns the catalog of tools that differ from a plain probe by DEFINITIONS. */
export function catalogOf(definitions: (Partial<ToolDefinition> & { name: string })[]): Catalog {
  return new Catalog(registryOf(...definitions.map((definition) => probe(definition).tool)));
}

/** Returns a catalog of TOOLS, which no registry has to accept, by id or name. */
export function foreignCatalog(tools: readonly (Partial<ToolMetadata> & { name: string })[]) {
  const all = tools.map(
    ({ fullDescription = '', ...tool }): ToolMetadata => ({
      shortDescription: fullDescription,
      fullDescription,
      category: 'utility',
      categories: [],
      complexity: 'simple',
      tokenCost: { min: 1, max: 1 },
      hasCEMCPDirective: false,
      keywords: [],
      words: [],
      safetyLevel: 'cautious',
      alwaysLoad: false,
      inputSchema: { type: 'object', properties: {} },
      ...tool,
    }),
  );
  const catalog = new Map(all.map((tool) => [tool.id ?? tool.name, tool]));
  return Object.assign(catalog, { ranking: new Ranking(catalog.values()) });
}

/** Five tools; `whale` stands in each of the places that count, in other combinations. */
export const SEA = catalogOf([
  {
    name: 'whale_song',
    description: 'Sing as the whale does. Long version.',
    shortDescription: 'Sing like a whale',
    keywords: ['Whale', 'sperm whale', 'music'],
    categories: ['introspection', 'clos'],
    complexity: 'complex',
  },
  {
    name: 'net',
    description: 'Throw a net. Never over a whale.',
    shortDescription: 'Throw a net',
    categories: ['buffer'],
    safetyLevel: 'dangerous',
  },
  {
    name: 'boat',
    description: 'Row a boat.',
    keywords: ['whale watching'],
    categories: ['execution'],
    safetyLevel: 'cautious',
    complexity: 'moderate',
  },
  { name: 'anchor', description: 'Drop the anchor near a whale.', categories: ['settings'] },
  { name: 'zebra', description: 'Look at a zebra.', categories: ['research'] },
]);
