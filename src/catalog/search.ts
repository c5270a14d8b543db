// Searches a catalog. Literal hits, which are tools that contain the query word for word, come first, sorted by their
// points (literal.ts). Then come other tools, ranked by how well they match (ranking.ts).

import type { Complexity } from '../kernel/tool.ts';
import { countCategories } from './catalog.ts';
import type { LiteralHits } from './literal.ts';
import type { CategoryFilter, ToolCategory, ToolMetadata } from './metadata.ts';
import { keyOf, type Ranked, Ranking } from './ranking.ts';

export interface ToolSearchOptions {
  category?: CategoryFilter;
  query?: string;
  complexity?: Complexity;
  /** True to leave out dangerous tools and those that code in the image cannot call (`hasCEMCPDirective`). */
  cemcpOnly?: boolean;
  includeSchema?: boolean;
  /** Maximum number of tools to return; 0 for all. By default, at most 20 literal hits are returned. If there are fewer
   * than five literal hits, ranked tools are added up to five tools. */
  limit?: number;
}

/** A tool that a search has found. It has the input schema only if the caller asked for schemas. */
export interface CatalogEntry extends Omit<ToolMetadata, 'inputSchema'> {
  inputSchema?: ToolMetadata['inputSchema'];
  /** True when the tool's largest cost is above 5000 tokens. */
  isHighTokenCost: boolean;
  /** The points of a tool that contains the query word for word (a literal hit). Absent for other tools. */
  searchScore?: number;
  /** Absent for a tool that contains the query word for word. 'ranked': the query contains the tool's name, or the
   * ranking found the tool. 'weak': the ranking found the tool, but it covers little of the query's subject. */
  match?: 'ranked' | 'weak';
}

export interface ToolSearchResult {
  tools: CatalogEntry[];
  /** Names or ids of the best tools that exceed the limit. */
  more?: string[];
  /** Number of tools that were found, including those beyond the limit. */
  totalCount: number;
  categories: Record<ToolCategory, number>;
  query?: string;
}

/** Maps names or ids to tools. `ranking` ranks these tools for a request; if it is absent, each search makes one. */
export type Searchable = ReadonlyMap<string, ToolMetadata> & { readonly ranking?: Ranking };

const HIGH_TOKEN_COST = 5000;
/** Maximum number of literal hits to return, if the caller gives no limit. */
const HIT_LIMIT = 20;
/** If there are fewer literal hits than this, ranked tools are added up to this number. */
const RANKED_LIMIT = 5;
/** Maximum number of further tools of which an answer gives only the names. */
const MORE_LIMIT = 15;
/** A match is weak when its coverage, the part of the request that the tool covers (see Ranked), is below this. */
const LEAST_COVERAGE = 0.48;

interface Hit {
  tool: ToolMetadata;
  /** Absent without a query. */
  matchInfo?: { searchScore: number } | { match: 'ranked' | 'weak' };
}

/** The result of a search: the best hits, the names or ids of further ones, and the number of all, in total and by
 * category. */
interface SearchOutcome {
  hits: Hit[];
  more: string[];
  total: number;
  categories: Record<ToolCategory, number>;
}

/** Returns the tools that match OPTIONS. With a query they are in the order of `findTools`, otherwise sorted by
 * name. */
export function searchCatalog(options: ToolSearchOptions, catalog: Searchable): ToolSearchResult {
  const { query, includeSchema = false } = options;
  const { hits, more, total, categories } = query
    ? findTools(query, options, catalog)
    : listTools(options, catalog);
  return {
    tools: hits.map((hit) => toEntry(hit, includeSchema)),
    ...(more.length > 0 && { more }),
    totalCount: total,
    categories,
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

function listTools(options: ToolSearchOptions, catalog: Searchable): SearchOutcome {
  const all = [...catalog.values()].filter((tool) => fits(tool, options)).sort(byName);
  const { limit = HIT_LIMIT } = options;
  const hits = (limit > 0 ? all.slice(0, limit) : all).map((tool): Hit => ({ tool }));
  return { hits, more: [], total: all.length, categories: countCategories(all) };
}

/** Returns the tools that QUERY names, then those that contain QUERY word for word (literal hits), then those that the
 * ranking finds. First searches all of CATALOG, then applies the filters in OPTIONS to the result. */
function findTools(query: string, options: ToolSearchOptions, catalog: Searchable): SearchOutcome {
  const ranking = catalog.ranking ?? new Ranking(catalog.values());
  const literal = ranking.literal(query);
  const named = namedTools(query, ranking);
  const certain = new Set([...named, ...literal.keys()]);
  // If QUERY is a single word and tools contain it, the answer needs no ranked tools.
  const onlyLiteral = literal.size > 0 && !/\S\s+\S/.test(query);
  const ranked = onlyLiteral ? [] : ranking.rank(query).filter(({ tool }) => !certain.has(tool));
  const certainHits = [...certain].map((tool) => certainHit(tool, literal));
  const all = [...certainHits, ...ranked.map(rankedHit)].filter(({ tool }) => fits(tool, options));
  const certainFitting = [...certain].filter((tool) => fits(tool, options)).length;
  const most = toolLimit(options.limit, certainFitting, named.size);
  const more = onlyLiteral ? [] : all.slice(most, most + MORE_LIMIT).map(({ tool }) => keyOf(tool));
  const categories = countCategories(all.map(({ tool }) => tool));
  return { hits: all.slice(0, most), more, total: all.length, categories };
}

/** Returns the maximum number of tools in an answer. LIMIT is the caller's limit; 0 means all tools. NAMED is the
 * number of tools that the query names. CERTAIN also counts the tools that contain the query word for word. */
function toolLimit(limit: number | undefined, certain: number, named: number): number {
  if (limit !== undefined) return limit > 0 ? limit : Number.MAX_SAFE_INTEGER;
  return Math.max(RANKED_LIMIT, named, Math.min(HIT_LIMIT, certain));
}

function certainHit(tool: ToolMetadata, literal: LiteralHits): Hit {
  const searchScore = literal.get(tool);
  return { tool, matchInfo: searchScore === undefined ? { match: 'ranked' } : { searchScore } };
}

function rankedHit({ tool, coverage }: Ranked): Hit {
  return { tool, matchInfo: { match: coverage < LEAST_COVERAGE ? 'weak' : 'ranked' } };
}

/** Matches a word that can only be a name: it contains punctuation or a digit inside, or is in camelCase. */
const LOOKS_LIKE_NAME = /[\w-][-_.:/\d][\w-]|\p{Ll}\p{Lu}/u;
/** Three ways to split a query into names: not at all, at the punctuation of a list, and at each character that no name
 * contains. A name counts if one of these ways finds it. */
const NAME_SEPARATORS = [/(?!)/, /[,;\n]/, /[^\p{L}\p{M}\p{N}_.:/-]+/u];

/** Returns the tools that QUERY names. When QUERY has other words too, only words that look like names count. */
function namedTools(query: string, ranking: Ranking): Set<ToolMetadata> {
  const named = new Set<ToolMetadata>();
  for (const separator of NAME_SEPARATORS) {
    const names = query.split(separator).filter((name) => /[^\s.:/-]/.test(name));
    const onlyNames = names.every((name) => toolsOf(name, ranking).length > 0);
    for (const name of names) {
      if (onlyNames || LOOKS_LIKE_NAME.test(name)) for (const tool of toolsOf(name, ranking)) named.add(tool);
    }
  }
  return named;
}

/** Returns the tools with the name NAME. If there are none, returns those with the name that remains without the
 * punctuation at both ends of NAME. */
function toolsOf(name: string, ranking: Ranking): readonly ToolMetadata[] {
  const tools = ranking.named(name.trim());
  return tools.length > 0 ? tools : ranking.named(name.replace(/^[\s.:/-]+|[\s.:/-]+$/g, ''));
}

function toEntry({ tool, matchInfo }: Hit, includeSchema: boolean): CatalogEntry {
  const { inputSchema, ...entry } = tool;
  const isHighTokenCost = tool.tokenCost.max > HIGH_TOKEN_COST;
  return { ...entry, isHighTokenCost, ...(includeSchema && { inputSchema }), ...matchInfo };
}

function byName(one: ToolMetadata, other: ToolMetadata): number {
  return one.name.localeCompare(other.name, 'en');
}
