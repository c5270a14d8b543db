// Splits the texts of a tool into fields. A search gives the words of each field their own weight.

import type { ToolMetadata } from './metadata.ts';

/** Weights of a field. `weight` is the weight of a word when the field has the average number of words, `usual`.
 * `length`, from 0 to 1, is the parameter b of BM25: with a higher value, words lose more weight when the field is
 * longer. */
interface Weight {
  readonly weight: number;
  readonly length: number;
  readonly usual: number;
}

/** The weights that gave the best results in `npm run bench:search`, with several kinds of catalogs. No weight was
 * chosen for the sake of a single search. The `usual` lengths are averages over 4,110 published tools. */
export const FIELDS = {
  name: { weight: 3, length: 0.5, usual: 4.7 },
  server: { weight: 1, length: 0.3, usual: 2 },
  category: { weight: 0.5, length: 0.3, usual: 1.4 },
  keywords: { weight: 3, length: 0.1, usual: 10 },
  first: { weight: 0.8, length: 0.3, usual: 7.5 },
  rest: { weight: 0.5, length: 0.2, usual: 26.3 },
  parameters: { weight: 1.5, length: 0.6, usual: 5.6 },
  texts: { weight: 0.3, length: 0.7, usual: 28 },
} as const satisfies Record<string, Weight>;
export type Field = keyof typeof FIELDS;

/** The short fields, in which stop words count too. Words such as "who" and "use" distinguish tools there. */
export const WITH_STOP_WORDS: ReadonlySet<string> = new Set<Field>(['name', 'keywords']);

const FIRST_SENTENCE = /^[\s\S]*?[.!?](?=\s|$)/;

/** Returns the text of each field of TOOL. */
export function fieldsOf(tool: ToolMetadata): Record<Field, string> {
  const { name, fullDescription, shortDescription } = tool;
  const [first = fullDescription] = FIRST_SENTENCE.exec(fullDescription) ?? [];
  const parameters = Object.entries(tool.inputSchema.properties ?? {});
  return {
    name,
    server: tool.server ?? '',
    category: tool.categories.join(' '),
    keywords: [...tool.keywords, ...tool.words].join(' '),
    first: shortDescription === first ? first : `${first} ${shortDescription}`,
    rest: fullDescription.slice(first.length),
    parameters: parameters.map(([parameter]) => parameter).join(' '),
    texts: parameters.map(([, schema]) => textOf(schema)).join(' '),
  };
}

/** Returns the description in SCHEMA; '' when it has none. In a catalog of other servers' tools, SCHEMA can be any
 * value. */
function textOf(schema: unknown): string {
  const { description } = (schema ?? {}) as { description?: unknown };
  return typeof description === 'string' ? description : '';
}
