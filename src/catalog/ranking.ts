// Ranks tools for a request in plain words, by BM25 over weighted fields.

import { FIELDS, type Field, fieldsOf, WITH_STOP_WORDS } from './fields.ts';
import { type LiteralHits, literalScore, normalizedName } from './literal.ts';
import type { ToolMetadata } from './metadata.ts';
import { readRequest } from './request.ts';
import { stem, termsOf, words } from './terms.ts';

/** Returns the key of TOOL in a catalog: its id, or its name if it has no id. */
export function keyOf({ id, name }: ToolMetadata): string {
  return id ?? name;
}

/** The parameter k1 of BM25. With a lower value, further occurrences of a term add less. */
const SATURATION = 1.2;
/** A tool covers a term of the request fully if the weight of the term in the tool is at least this. A tool that has
 * the term only in a minor field covers it in part. */
const FULL_COVERAGE_WEIGHT = 1.6;
/** A number that is added to the number of tools in the IDF, so that rare words count more in small catalogs too. */
const FURTHER_TOOLS = 100;
/** The number of tools that is assumed to have a term of the request that no tool has. The IDF of the term is computed
 * from it. With a lower value, such a term lowers the coverage of all tools more. */
const UNKNOWN_HOLDERS = 0.0122;

/** A tool that the ranking found. `coverage`, from 0 to 1, is the part of the request's subject that the tool
 * covers. */
export interface Ranked {
  tool: ToolMetadata;
  coverage: number;
}

export class Ranking {
  readonly #tools: readonly ToolMetadata[];
  /** Maps a term to a second map: from the index of each tool that has the term to the weight of the term there. */
  readonly #postings = new Map<string, Map<number, number>>();

  constructor(tools: Iterable<ToolMetadata>) {
    this.#tools = [...tools];
    for (const [at, tool] of this.#tools.entries()) {
      for (const [term, weight] of termWeights(tool)) {
        const holders = this.#postings.get(term) ?? new Map<number, number>();
        holders.set(at, (weight * (SATURATION + 1)) / (weight + SATURATION));
        this.#postings.set(term, holders);
      }
    }
  }

  /** Returns the tools that have a term of QUERY. The best come first; equal ones are in catalog order. */
  rank(query: string): Ranked[] {
    const scores = new Map<number, { at: number; score: number; covered: number }>();
    let subject = 0;
    for (const { term, weight, subjectWeight } of readRequest(query, (term) => this.#postings.has(term))) {
      const holders = this.#postings.get(term);
      const idf = Math.log((this.#tools.length + FURTHER_TOOLS) / (holders?.size ?? UNKNOWN_HOLDERS));
      subject += subjectWeight * idf;
      for (const [at, value] of holders ?? []) {
        const { score, covered } = scores.get(at) ?? { score: 0, covered: 0 };
        const share = Math.min(1, value / FULL_COVERAGE_WEIGHT);
        scores.set(at, {
          at,
          score: score + weight * idf * value,
          covered: covered + subjectWeight * idf * share,
        });
      }
    }
    const sorted = [...scores.values()].sort((one, other) => other.score - one.score || one.at - other.at);
    return sorted.map(({ at, covered }) => ({
      tool: this.#tools[at] as ToolMetadata,
      coverage: subject === 0 ? 1 : covered / subject,
    }));
  }

  /** Returns the tools whose name is NAME, without regard to case and with `-` equal to `_`, and the tool whose id is
   * NAME. */
  named(name: string): ToolMetadata[] {
    const normalized = normalizedName(name);
    return this.#tools.filter((tool) => normalizedName(tool.name) === normalized || keyOf(tool) === name);
  }

  /** Returns the tools that contain QUERY word for word. Those with the most points come first, equal ones in catalog
   * order. */
  literal(query: string): LiteralHits {
    const hits = this.#tools.map((tool): [ToolMetadata, number] => [tool, literalScore(tool, query)]);
    return new Map(hits.filter(([, score]) => score > 0).sort(([, one], [, other]) => other - one));
  }
}

function termWeights(tool: ToolMetadata): Map<string, number> {
  const weights = new Map<string, number>();
  for (const [field, text] of Object.entries(fieldsOf(tool))) {
    const terms = WITH_STOP_WORDS.has(field) ? words(text).map(stem) : termsOf(text);
    const { weight, length, usual } = FIELDS[field as Field];
    const termWeight = weight / (1 - length + (length * terms.length) / usual);
    for (const term of terms) weights.set(term, (weights.get(term) ?? 0) + termWeight);
  }
  return weights;
}
