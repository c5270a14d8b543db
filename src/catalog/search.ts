// Decides which tools a search finds and in what order: literal hits as the contract counts them, then ranked ones.

import type { Complexity } from '../kernel/tool.ts';
import { type Catalog, countCategories } from './catalog.ts';
import type { CategoryFilter, ToolCategory, ToolMetadata } from './metadata.ts';
import { Ranking } from './ranking.ts';

export interface ToolSearchOptions {
  category?: CategoryFilter;
  query?: string;
  complexity?: Complexity;
  cemcpOnly?: boolean;
  includeSchema?: boolean;
  /** How many tools at most; 0 for all. */
  limit?: number;
}

/** A tool of the catalog as a search found it; its schema is there when it was asked for. */
export interface CatalogEntry extends Omit<ToolMetadata, 'inputSchema'> {
  inputSchema?: ToolMetadata['inputSchema'];
  /** More than 5000 tokens at most (S1.13). */
  isHighTokenCost: boolean;
  /** The points of a literal hit (S1.2). */
  searchScore?: number;
  /** There when only the ranking found it (S1.15). */
  match?: 'ranked';
}

export interface ToolSearchResult {
  tools: CatalogEntry[];
  /** How many were found, before the limit. */
  totalCount: number;
  /** How many of them are in each category. */
  categories: Record<ToolCategory, number>;
  query?: string;
}

/** Tools by name. A catalog keeps its ranking; for another map each search makes one. */
export type Searchable = ReadonlyMap<string, ToolMetadata> & Partial<Pick<Catalog, 'ranking'>>;

const HIGH_TOKEN_COST = 5000;
const POINTS = { name: 100, keyword: 50, shortDescription: 25, fullDescription: 10 };

/** A tool that a search found, and why. */
interface Hit {
  tool: ToolMetadata;
  why?: { searchScore: number } | { match: 'ranked' };
}

/** Returns the tools of CATALOG that OPTIONS ask for: by score with a query, else by name (S1.2 to S1.8, S1.15). */
export function searchTools(options: ToolSearchOptions, catalog: Searchable): ToolSearchResult {
  const { query, limit = 20, includeSchema = false } = options;
  const candidates = [...catalog.values()].filter((tool) => fits(tool, options));
  const found = query
    ? findTools(query, candidates, catalog)
    : candidates.sort(byName).map((tool): Hit => ({ tool }));
  const hits = limit > 0 ? found.slice(0, limit) : found;
  return {
    tools: hits.map((hit) => toEntry(hit, includeSchema)),
    totalCount: found.length,
    categories: countCategories(found.map(({ tool }) => tool)),
    ...(query !== undefined && { query }),
  };
}

function fits(tool: ToolMetadata, { category, complexity, cemcpOnly }: ToolSearchOptions): boolean {
  return (
    (!category || tool.category === category || tool.categories.includes(category)) &&
    (!complexity || tool.complexity === complexity) &&
    (!cemcpOnly || tool.hasCEMCPDirective)
  );
}

/** Returns the CANDIDATES that QUERY finds; all tools of CATALOG decide how much each of its words tells. */
function findTools(query: string, candidates: ToolMetadata[], catalog: Searchable): Hit[] {
  const wanted = { text: query.toLowerCase(), name: spelled(query) };
  const literal = candidates
    .map((tool) => ({ tool, why: { searchScore: literalScore(tool, wanted) } }))
    .filter(({ why }) => why.searchScore > 0)
    .sort((one, other) => other.why.searchScore - one.why.searchScore);
  if (literal.length > 0 && !/\S\s+\S/.test(query)) return literal;
  const taken = new Set(literal.map(({ tool }) => tool.name));
  const ranking = catalog.ranking ?? new Ranking([...catalog.values()]);
  const ranked = ranking.rank(query).filter((tool) => candidates.includes(tool) && !taken.has(tool.name));
  return [...literal, ...ranked.map((tool): Hit => ({ tool, why: { match: 'ranked' } }))];
}

/** Returns the points of TOOL for what is WANTED (S1.2); in its name - equals _ (C1). */
function literalScore(tool: ToolMetadata, wanted: { text: string; name: string }): number {
  const texts = textsOf(tool);
  const has = (text: string) => text.includes(wanted.text);
  const named = texts.name.includes(wanted.name) ? POINTS.name : 0;
  // Few tools have it anywhere, and one text is searched sooner than a hundred.
  if (!has(texts.all)) return named;
  return (
    named +
    texts.keywords.filter(has).length * POINTS.keyword +
    (has(texts.shortDescription) ? POINTS.shortDescription : 0) +
    (has(texts.fullDescription) ? POINTS.fullDescription : 0)
  );
}

/** The texts of a tool in lower case. */
interface Texts {
  name: string;
  keywords: string[];
  shortDescription: string;
  fullDescription: string;
  /** All but the name, in one. */
  all: string;
}

/** A tool's metadata is frozen, so its texts are put in lower case once. */
const TEXTS = new WeakMap<ToolMetadata, Texts>();

function textsOf(tool: ToolMetadata): Texts {
  const kept = TEXTS.get(tool);
  if (kept !== undefined) return kept;
  const keywords = tool.keywords.map((keyword) => keyword.toLowerCase());
  const shortDescription = tool.shortDescription.toLowerCase();
  const fullDescription = tool.fullDescription.toLowerCase();
  const all = [...keywords, shortDescription, fullDescription].join('\n');
  const texts = { name: spelled(tool.name), keywords, shortDescription, fullDescription, all };
  TEXTS.set(tool, texts);
  return texts;
}

function spelled(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

function toEntry({ tool, why }: Hit, includeSchema: boolean): CatalogEntry {
  const { inputSchema, ...metadata } = tool;
  const isHighTokenCost = tool.tokenCost.max > HIGH_TOKEN_COST;
  return { ...metadata, ...(includeSchema && { inputSchema }), isHighTokenCost, ...why };
}

function byName(one: ToolMetadata, other: ToolMetadata): number {
  return one.name.localeCompare(other.name, 'en');
}
