// Decides which tools can be searched: those of one registry, as it is now.

import type { ToolRegistry } from '../kernel/registry.ts';
import type { Tool } from '../kernel/tool.ts';
import { metadataOf, TOOL_CATEGORIES, type ToolCategory, type ToolMetadata } from './metadata.ts';
import { Ranking } from './ranking.ts';

/** What a catalog derives from: tools, and a number that is another one once they changed. */
type ToolSource = Pick<ToolRegistry, 'revision' | 'tools'>;

/** Returns how a registered name is spelled for clients. */
type Spelling = (name: string) => string;

/** The two tools whose contracts spell them in kebab case (C1). */
const CONTRACT_NAMES: ReadonlyMap<string, string> = new Map([
  ['apropos_search', 'apropos-search'],
  ['who_calls', 'who-calls'],
]);

/** Tells which requests led to a call of each tool before. */
export interface PastSearches {
  /** Returns the requests that the tool NAME served; the same list until there is another one. */
  requestsFor(name: string): readonly string[];
}

const NONE: readonly string[] = [];

/** The spelling of the contracts. */
export const contractSpelling: Spelling = (name) => CONTRACT_NAMES.get(name) ?? name;

/** Returns the name under which the tool that clients see as NAME is registered (C1). */
export function registeredName(name: string): string {
  return name.replaceAll('-', '_');
}

/** The tools of a registry by the name that clients see, in the order of registration. */
export class Catalog implements ReadonlyMap<string, ToolMetadata> {
  readonly #registry: ToolSource;
  readonly #spelling: Spelling;
  #revision: number | undefined;
  #entries: ReadonlyMap<string, ToolMetadata> = new Map();
  readonly #ranking = new Ranking();
  /** What the ranking has of each tool: its metadata, and the requests that it served before. */
  readonly #ranked = new Map<string, { tool: ToolMetadata; past: readonly string[] }>();
  /** What each tool was when its metadata was made. */
  readonly #metadata = new WeakMap<Tool, ToolMetadata>();
  /** Tells of past searches, when they are remembered. */
  memory: PastSearches | undefined;

  /** Derives from REGISTRY, as it is at each use; SPELLING says how clients see the names of its tools. */
  constructor(registry: ToolSource, spelling: Spelling = (name) => name) {
    this.#registry = registry;
    this.#spelling = spelling;
  }

  /** The map as it is now. */
  get #current(): ReadonlyMap<string, ToolMetadata> {
    const { revision } = this.#registry;
    if (this.#revision !== revision) {
      const all = this.#registry.tools().map((tool) => this.#metadataOf(tool));
      this.#entries = new Map(all.map((metadata) => [metadata.name, metadata]));
      this.#revision = revision;
    }
    return this.#entries;
  }

  #metadataOf(tool: Tool): ToolMetadata {
    const kept = this.#metadata.get(tool) ?? metadataOf(tool, this.#spelling(tool.name));
    this.#metadata.set(tool, kept);
    return kept;
  }

  /** What ranks the tools as they are now; it reads those that are new to it. */
  get ranking(): Ranking {
    const current = this.#current;
    for (const name of this.#ranked.keys()) {
      if (current.has(name)) continue;
      this.#ranking.delete(name);
      this.#ranked.delete(name);
    }
    for (const [name, tool] of current) {
      const past = this.memory?.requestsFor(registeredName(name)) ?? NONE;
      const ranked = this.#ranked.get(name);
      if (ranked?.tool === tool && ranked.past === past) continue;
      this.#ranking.set(tool, past);
      this.#ranked.set(name, { tool, past });
    }
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
  /** How many tools each of the ten categories has. */
  byCategory: Record<ToolCategory, number>;
}

/** Returns how many tools CATALOG has, in all and in each category (S1.7, S1.18). */
export function getCatalogSummary(catalog: ReadonlyMap<string, ToolMetadata>): CatalogSummary {
  return { totalTools: catalog.size, byCategory: countCategories([...catalog.values()]) };
}

/** Returns how many of TOOLS are in each of the ten categories, zeros too (S1.6). */
export function countCategories(tools: readonly { category: ToolCategory }[]): Record<ToolCategory, number> {
  const counts = Object.fromEntries(TOOL_CATEGORIES.map((category) => [category, 0]));
  for (const { category } of tools) counts[category] = (counts[category] ?? 0) + 1;
  return counts as Record<ToolCategory, number>;
}
