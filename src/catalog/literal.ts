// Scores tools whose texts contain the query word for word.

import { MOST_KEYWORDS } from '../kernel/tool.ts';
import type { ToolMetadata } from './metadata.ts';

/** The tools that contain the query word for word, with their points. */
export type LiteralHits = ReadonlyMap<ToolMetadata, number>;

const POINTS = { name: 100, keyword: 50, shortDescription: 25, fullDescription: 10 };

/** Returns NAME in the form in which names are compared: lower case, `_` in place of `-`. */
export function normalizedName(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

/** Returns the points of TOOL for QUERY. Only the first MOST_KEYWORDS keywords count. */
export function literalScore(tool: ToolMetadata, query: string): number {
  const text = query.toLowerCase();
  const has = (part: string) => part.toLowerCase().includes(text);
  const keywords = tool.keywords.slice(0, MOST_KEYWORDS).filter(has);
  return (
    (normalizedName(tool.name).includes(normalizedName(query)) ? POINTS.name : 0) +
    POINTS.keyword * keywords.length +
    (has(tool.shortDescription) ? POINTS.shortDescription : 0) +
    (has(tool.fullDescription) ? POINTS.fullDescription : 0)
  );
}
