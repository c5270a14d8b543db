// Decides which tools a search finds and in what order: literal hits as the contract counts them, then ranked ones.

import { type Complexity, MOST_KEYWORDS } from '../kernel/tool.ts';
import { countCategories } from './catalog.ts';
import { type CategoryFilter, TOOL_CATEGORIES, type ToolCategory, type ToolMetadata } from './metadata.ts';
import { keyOf, type Ranked, Ranking, spelled } from './ranking.ts';

export interface ToolSearchOptions {
  category?: CategoryFilter;
  query?: string;
  complexity?: Complexity;
  cemcpOnly?: boolean;
  includeSchema?: boolean;
  /** How many tools at most; 0 for all. When absent, 20, and five of those that only the ranking found. */
  limit?: number;
}

/** A tool of the catalog as a search found it; its schema is there when it was asked for. */
export interface CatalogEntry extends Omit<ToolMetadata, 'inputSchema'> {
  inputSchema?: ToolMetadata['inputSchema'];
  /** More than 5000 tokens at most (S1.13). */
  isHighTokenCost: boolean;
  /** The points of a literal hit (S1.2). */
  searchScore?: number;
  /** There when only the ranking found it (S1.15); weak when it has little of what the query is about (C32). */
  match?: 'ranked' | 'weak';
}

export interface ToolSearchResult {
  tools: CatalogEntry[];
  /** The names, or the ids, of those that come next. */
  more?: string[];
  /** How many were found, before the limit. */
  totalCount: number;
  /** How many of them are in each category. */
  categories: Record<ToolCategory, number>;
  query?: string;
}

/** Tools by name. A catalog keeps its ranking; for another map each search makes one. */
export type Searchable = ReadonlyMap<string, ToolMetadata> & { readonly ranking?: Ranking };

const HIGH_TOKEN_COST = 5000;
const POINTS = { name: 100, keyword: 50, shortDescription: 25, fullDescription: 10 };
/** How many tools an answer has when nobody says: of literal hits, and of those that were ranked. */
const MOST = 20;
const MOST_RANKED = 5;
/** How many more are named. */
const MOST_NAMED = 15;
/** Which part of what a request is about a tool has at least that is not marked as a weak match. */
const LEAST_COVERED = 0.55;

/** A tool that a search found, and why. */
interface Hit {
  tool: ToolMetadata;
  why?: { searchScore: number } | { match: 'ranked' | 'weak' };
}

/** What a search found: the likeliest first, and of how many. */
interface Found {
  hits: Hit[];
  more: string[];
  total: number;
  categories: Record<ToolCategory, number>;
}

/** Returns the tools of CATALOG that OPTIONS ask for: by score with a query, else by name (S1.2 to S1.8, S1.15). */
export function searchTools(options: ToolSearchOptions, catalog: Searchable): ToolSearchResult {
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

function listTools(options: ToolSearchOptions, catalog: Searchable): Found {
  const all = [...catalog.values()].filter((tool) => fits(tool, options)).sort(byName);
  const { limit = MOST } = options;
  const hits = (limit > 0 ? all.slice(0, limit) : all).map((tool): Hit => ({ tool }));
  return { hits, more: [], total: all.length, categories: countCategories(all) };
}

/** Returns what QUERY finds: the tools that it names, literal hits, then what the ranking finds. All of CATALOG decides
 *  which of these there are, and the filters of OPTIONS which of them are left (C27, C32). */
function findTools(query: string, options: ToolSearchOptions, catalog: Searchable): Found {
  const ranking = catalog.ranking ?? rankingOf(catalog);
  const literal = literalHits(query, ranking, catalog);
  const named = namedTools(query, ranking);
  const sure = [...new Set([...named, ...literal.keys()])].map((tool): Hit => {
    const searchScore = literal.get(tool);
    return { tool, why: searchScore === undefined ? { match: 'ranked' } : { searchScore } };
  });
  const fitting = sure.filter(({ tool }) => fits(tool, options));
  const categories = countCategories(fitting.map(({ tool }) => tool));
  const most = mostOf(options.limit, fitting.length, named.length);
  const onlyLiteral = literal.size > 0 && !/\S\s+\S/.test(query);
  if (onlyLiteral) {
    return { hits: fitting.slice(0, most), more: [], total: fitting.length, categories };
  }
  const { category, complexity, cemcpOnly } = options;
  const accepts =
    category || complexity || cemcpOnly ? (tool: ToolMetadata) => fits(tool, options) : undefined;
  const room = {
    most: Math.max(0, most + MOST_NAMED - fitting.length),
    shown: Math.max(0, most - fitting.length),
  };
  const taken = sure.map(({ tool }) => tool);
  const ranked = ranking.rank(query, room, taken, accepts);
  TOOL_CATEGORIES.forEach((each, at) => {
    categories[each] += ranked.categories[at] ?? 0;
  });
  const hits = [...fitting, ...ranked.tools.map(rankedHit)];
  return {
    hits: hits.slice(0, most),
    more: hits.slice(most, most + MOST_NAMED).map(({ tool }) => keyOf(tool)),
    total: fitting.length + ranked.categories.reduce((sum, count) => sum + count, 0),
    categories,
  };
}

/** Returns how many tools an answer has for LIMIT, when SURE of them were named or are literal hits, and NAMED named. */
function mostOf(limit: number | undefined, sure: number, named: number): number {
  if (limit !== undefined) return limit > 0 ? limit : Number.MAX_SAFE_INTEGER;
  return Math.max(MOST_RANKED, named, Math.min(MOST, sure));
}

function rankedHit({ tool, covered = 0 }: Ranked): Hit {
  return { tool, why: { match: covered < LEAST_COVERED ? 'weak' : 'ranked' } };
}

/** Returns a ranking of CATALOG, which keeps none. */
function rankingOf(catalog: Searchable): Ranking {
  const ranking = new Ranking();
  for (const tool of catalog.values()) ranking.set(tool);
  return ranking;
}

/** A word that only a name looks like: with a sign or a digit in it, or in camelCase. */
const LOOKS_LIKE_NAME = /[\w-][-_.:/\d][\w-]|\p{Ll}\p{Lu}/u;
/** What stands between names: nothing, the signs of a list, or whatever is no part of a name as programs have them. */
const BETWEEN_NAMES = [/(?!)/, /[,;\n]/, /[^\p{L}\p{M}\p{N}_.:/-]+/u];

/** Returns the tools that QUERY names (C27). When it has more than names, these are only those whose names are no words of a
 *  sentence. */
function namedTools(query: string, ranking: Ranking): ToolMetadata[] {
  const named = new Set<ToolMetadata>();
  for (const between of BETWEEN_NAMES) {
    const names = query.split(between).filter((name) => /[^\s.:/-]/.test(name));
    const only = names.every((name) => toolsOf(name, ranking).length > 0);
    for (const name of names) {
      if (only || LOOKS_LIKE_NAME.test(name)) for (const tool of toolsOf(name, ranking)) named.add(tool);
    }
  }
  return [...named];
}

/** Returns the tools of NAME, which can have signs of the sentence at its ends. */
function toolsOf(name: string, ranking: Ranking): readonly ToolMetadata[] {
  const tools = ranking.named(name.trim());
  const inner = tools.length > 0 ? name : name.replace(/^[\s.:/-]+|[\s.:/-]+$/g, '');
  return inner === name ? tools : ranking.named(inner);
}

/** Returns the literal hits of QUERY with their points, the most first, equal ones in the order of CATALOG (S1.2, S1.4). */
function literalHits(query: string, ranking: Ranking, catalog: Searchable): Map<ToolMetadata, number> {
  const wanted = { text: query.toLowerCase(), name: spelled(query) };
  const scores = new Map<ToolMetadata, number>();
  for (const tool of ranking.holding(wanted.text)) {
    const score = literalScore(tool, wanted);
    if (score > 0) scores.set(tool, score);
  }
  if (scores.size < 2) return scores;
  const hits: [ToolMetadata, number][] = [];
  for (const tool of catalog.values()) {
    const score = scores.get(tool);
    if (score !== undefined) hits.push([tool, score]);
  }
  return new Map(hits.sort(([, one], [, other]) => other - one));
}

/** Returns the points of TOOL for what is WANTED (S1.2); in its name - equals _ (C1). Only the keywords that clients are
 *  shown have points (C27). */
function literalScore(tool: ToolMetadata, wanted: { text: string; name: string }): number {
  const { name, keywords, shortDescription, fullDescription } = tool;
  const has = (text: string) => text.toLowerCase().includes(wanted.text);
  return (
    (spelled(name).includes(wanted.name) ? POINTS.name : 0) +
    (keywords.length > 0 ? keywords.slice(0, MOST_KEYWORDS).filter(has).length * POINTS.keyword : 0) +
    (has(shortDescription) ? POINTS.shortDescription : 0) +
    (has(fullDescription) ? POINTS.fullDescription : 0)
  );
}

/** Returns what is told of a hit. Each field is named, because a copy of all is twenty times as slow. */
function toEntry({ tool, why }: Hit, includeSchema: boolean): CatalogEntry {
  const { server, id, declaredLevel, effects, inputSchema } = tool;
  return {
    name: tool.name,
    title: tool.title,
    shortDescription: tool.shortDescription,
    fullDescription: tool.fullDescription,
    category: tool.category,
    categories: tool.categories,
    complexity: tool.complexity,
    tokenCost: tool.tokenCost,
    hasCEMCPDirective: tool.hasCEMCPDirective,
    keywords: tool.keywords,
    words: tool.words,
    safetyLevel: tool.safetyLevel,
    alwaysLoad: tool.alwaysLoad,
    isHighTokenCost: tool.tokenCost.max > HIGH_TOKEN_COST,
    ...(server !== undefined && { server }),
    ...(id !== undefined && { id }),
    ...(declaredLevel && { declaredLevel }),
    ...(effects && { effects }),
    ...(includeSchema && { inputSchema }),
    ...why,
  };
}

function byName(one: ToolMetadata, other: ToolMetadata): number {
  return one.name.localeCompare(other.name, 'en');
}
