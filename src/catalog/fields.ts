// Splits the texts of a tool into fields, and weights the words of each field in a search.

import type { ToolMetadata } from './metadata.ts';

/** The weight of one word in a field, and how much the length of the text reduces it, from 0 to 1. */
interface Weight {
  readonly weight: number;
  readonly length: number;
}

/** The values that bench:search found best over catalogs of several kinds; none was tuned to a single request. */
export const FIELDS = {
  name: { weight: 3, length: 0.5 },
  server: { weight: 1, length: 0.3 },
  category: { weight: 0.5, length: 0.3 },
  keywords: { weight: 2, length: 0.1 },
  first: { weight: 0.8, length: 0.3 },
  rest: { weight: 0.5, length: 0.2 },
  parameters: { weight: 1.5, length: 0.6 },
  texts: { weight: 0.3, length: 0.7 },
} as const satisfies Record<string, Weight>;
export type Field = keyof typeof FIELDS;

/** Weight of a word in past requests that the tool served. A word counts once, however many requests have it, so that
 *  nobody can promote a tool by many requests. */
export const MEMORY_WEIGHT = 0.25;

const FIRST_SENTENCE = /^[\s\S]*?[.!?](?=\s|$)/;

/** Returns the text of each field of TOOL. */
export function fieldsOf(tool: ToolMetadata): Record<Field, string> {
  const { name, fullDescription, shortDescription } = tool;
  const [first = fullDescription] = FIRST_SENTENCE.exec(fullDescription) ?? [];
  const parts = name.split(/[^\p{L}\p{N}]+/u);
  const parameters = Object.entries(tool.inputSchema.properties ?? {});
  return {
    name: parts.length > 1 ? `${name} ${parts.join('')}` : name,
    server: tool.server ?? '',
    category: tool.categories.join(' '),
    keywords: [...tool.keywords, ...tool.words].join(' '),
    first: shortDescription === first ? first : `${first} ${shortDescription}`,
    rest: fullDescription.slice(first.length),
    parameters: parameters.map(([parameter]) => parameter).join(' '),
    texts: parameters.map(([, schema]) => textOf(schema)).join(' '),
  };
}

/** Returns the description in a parameter's SCHEMA; '' when absent. In a foreign catalog SCHEMA can be anything. */
function textOf(schema: unknown): string {
  const { description } = (schema ?? {}) as { description?: unknown };
  return typeof description === 'string' ? description : '';
}
