// Holds the searchable tools of a registry, and follows changes of the registry.

import type { ToolRegistry } from '../kernel/registry.ts';
import type { Tool } from '../kernel/tool.ts';
import { metadataOf, TOOL_CATEGORIES, type ToolCategory, type ToolMetadata } from './metadata.ts';
import { Ranking } from './ranking.ts';

/** The tools of a catalog, and a number that changes whenever the tools change. */
type ToolSource = Pick<ToolRegistry, 'revision' | 'tools'>;

/** A function from a registered name to the name for clients. */
type Spelling = (name: string) => string;

/** Maps the registered names of two tools to their names in the contract (docs/develop/contracts.md), which have
 * hyphens. */
const CONTRACT_NAMES: ReadonlyMap<string, string> = new Map([
  ['apropos_search', 'apropos-search'],
  ['who_calls', 'who-calls'],
]);

/** Returns the name that the contract gives to the tool with the registered name NAME. */
export const contractSpelling: Spelling = (name) => CONTRACT_NAMES.get(name) ?? name;

/** Returns the registered name of the tool that clients know as NAME. */
export function registeredName(name: string): string {
  return name.replaceAll('-', '_');
}

/** The tools of a registry, by their names for clients, in the order of registration. */
export class Catalog implements ReadonlyMap<string, ToolMetadata> {
  readonly #registry: ToolSource;
  readonly #spelling: Spelling;
  #revision: number | undefined;
  #entries: ReadonlyMap<string, ToolMetadata> = new Map();
  #ranking: Ranking | undefined;
  readonly #metadata = new WeakMap<Tool, ToolMetadata>();

  /** The catalog reads REGISTRY again whenever its revision changes. SPELLING maps a registered name to the name for
   * clients. */
  constructor(registry: ToolSource, spelling: Spelling = (name) => name) {
    this.#registry = registry;
    this.#spelling = spelling;
  }

  get #current(): ReadonlyMap<string, ToolMetadata> {
    const { revision } = this.#registry;
    if (this.#revision !== revision) {
      const metadata = this.#registry.tools().map((tool) => this.#metadataOf(tool));
      this.#entries = new Map(metadata.map((metadata) => [metadata.name, metadata]));
      this.#revision = revision;
      this.#ranking = undefined;
    }
    return this.#entries;
  }

  #metadataOf(tool: Tool): ToolMetadata {
    const metadata = this.#metadata.get(tool) ?? metadataOf(tool, this.#spelling(tool.name));
    this.#metadata.set(tool, metadata);
    return metadata;
  }

  get ranking(): Ranking {
    const tools = this.#current.values();
    this.#ranking ??= new Ranking(tools);
    return this.#ranking;
  }

  get size(): number {
    return this.#current.size;
  }

  get(name: string): ToolMetadata | undefined {
    return this.#current.get(name);
  }

  has(name: string): boolean {
    return this.#current.has(name);
  }

  keys(): MapIterator<string> {
    return this.#current.keys();
  }

  values(): MapIterator<ToolMetadata> {
    return this.#current.values();
  }

  entries(): MapIterator<[string, ToolMetadata]> {
    return this.#current.entries();
  }

  [Symbol.iterator](): MapIterator<[string, ToolMetadata]> {
    return this.#current.entries();
  }

  forEach(
    visit: (metadata: ToolMetadata, name: string, map: ReadonlyMap<string, ToolMetadata>) => void,
  ): void {
    for (const [name, metadata] of this.#current) visit(metadata, name, this);
  }
}

export interface CatalogSummary {
  totalTools: number;
  byCategory: Record<ToolCategory, number>;
}

/** Returns the number of tools in CATALOG, in total and by category. */
export function catalogSummary(catalog: ReadonlyMap<string, ToolMetadata>): CatalogSummary {
  return { totalTools: catalog.size, byCategory: countCategories([...catalog.values()]) };
}

/** Returns the number of TOOLS in each of the ten categories, including those with no tool. */
export function countCategories(tools: readonly { category: ToolCategory }[]): Record<ToolCategory, number> {
  const counts = Object.fromEntries(TOOL_CATEGORIES.map((category) => [category, 0]));
  for (const { category } of tools) counts[category] = (counts[category] ?? 0) + 1;
  return counts as Record<ToolCategory, number>;
}
