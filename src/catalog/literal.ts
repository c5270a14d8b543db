// Scores tools whose texts contain a query literally.

import { MOST_KEYWORDS } from '../kernel/tool.ts';
import type { ToolMetadata } from './metadata.ts';

/** The tools that contain a query literally, with their points. */
export type LiteralHits = ReadonlyMap<ToolMetadata, number>;

/** The lower-case texts of a tool, kept because converting them takes longer than searching them. */
export interface LiteralTexts {
  name: string;
  keywords: readonly string[];
  short: string;
  full: string;
  /** Whether FULL begins with SHORT, so that searching FULL covers both. */
  fullBeginsWithShort: boolean;
}

const POINTS = { name: 100, keyword: 50, shortDescription: 25, fullDescription: 10 };

/** Returns NAME normalized for comparison: in lower case, with `-` replaced by `_` (C1). */
export function normalizedName(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

/** Returns the texts of TOOL, the name normalized, with the first MOST_KEYWORDS keywords (C27). */
export function literalTexts(tool: ToolMetadata): LiteralTexts {
  const [short, full] = [tool.shortDescription.toLowerCase(), tool.fullDescription.toLowerCase()];
  const keywords = tool.keywords.slice(0, MOST_KEYWORDS).map((keyword) => keyword.toLowerCase());
  return {
    name: normalizedName(tool.name),
    keywords,
    short,
    full,
    fullBeginsWithShort: full.startsWith(short),
  };
}

/** Returns the points of TEXTS for QUERY (S1.2), given in lower case (TEXT) and normalized (NAME). */
export function literalScore(texts: LiteralTexts, query: { text: string; name: string }): number {
  const { name, keywords, short, full, fullBeginsWithShort } = texts;
  const { text } = query;
  const at = full.indexOf(text);
  const inShort = fullBeginsWithShort ? at !== -1 && at + text.length <= short.length : short.includes(text);
  let points = (at === -1 ? 0 : POINTS.fullDescription) + (inShort ? POINTS.shortDescription : 0);
  if (name.includes(query.name)) points += POINTS.name;
  for (const keyword of keywords) if (keyword.includes(text)) points += POINTS.keyword;
  return points;
}
