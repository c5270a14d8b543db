// Decides how many points a tool has whose texts have a query as it stands.

import { MOST_KEYWORDS } from '../kernel/tool.ts';
import type { ToolMetadata } from './metadata.ts';

/** The tools that have a query as it stands, with their points. */
export type LiteralHits = ReadonlyMap<ToolMetadata, number>;

/** The texts of a tool in lower case: to write them so again for each search takes longer than to look through them. */
export interface LiteralTexts {
  name: string;
  keywords: readonly string[];
  short: string;
  full: string;
  /** Whether the full description begins with the short one, so that one look at it does for both. */
  isStart: boolean;
}

const POINTS = { name: 100, keyword: 50, shortDescription: 25, fullDescription: 10 };

/** Returns NAME as names are compared: in lower case, where - equals _ (C1). */
export function spelled(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

/** Returns the texts of TOOL, with its name as names are compared. Only the keywords that clients are shown count (C27). */
export function literalTexts(tool: ToolMetadata): LiteralTexts {
  const [short, full] = [tool.shortDescription.toLowerCase(), tool.fullDescription.toLowerCase()];
  const keywords = tool.keywords.slice(0, MOST_KEYWORDS).map((keyword) => keyword.toLowerCase());
  return { name: spelled(tool.name), keywords, short, full, isStart: full.startsWith(short) };
}

/** Returns the points of a tool with TEXTS for what is WANTED (S1.2): a text in lower case, and as names are compared. */
export function literalScore(texts: LiteralTexts, wanted: { text: string; name: string }): number {
  const { name, keywords, short, full, isStart } = texts;
  const { text } = wanted;
  const at = full.indexOf(text);
  const inShort = isStart ? at !== -1 && at + text.length <= short.length : short.includes(text);
  let points = (at === -1 ? 0 : POINTS.fullDescription) + (inShort ? POINTS.shortDescription : 0);
  if (name.includes(wanted.name)) points += POINTS.name;
  for (const keyword of keywords) if (keyword.includes(text)) points += POINTS.keyword;
  return points;
}
