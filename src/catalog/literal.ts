// Scores tools whose texts contain a query literally.

import { MOST_KEYWORDS } from '../kernel/tool.ts';
import type { ToolMetadata } from './metadata.ts';

/** The tools that contain a query literally, with their points. */
export type LiteralHits = ReadonlyMap<ToolMetadata, number>;

const POINTS = { name: 100, keyword: 50, shortDescription: 25, fullDescription: 10 };

/** Returns NAME normalized for comparison: in lower case, with `-` replaced by `_` (C1). */
export function normalizedName(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

/** Returns the points of TOOL for QUERY (S1.2). Only the first MOST_KEYWORDS keywords count (C27). */
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
