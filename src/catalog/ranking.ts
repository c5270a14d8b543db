// Ranks tools for a request in plain words: BM25 over weighted fields.

import { PUBLIC_LENGTHS, publicShare } from './background.ts';
import { FIELDS, type Field, fieldsOf, MEMORY_WEIGHT } from './fields.ts';
import { Lexicon, NO_TERM } from './lexicon.ts';
import {
  type LiteralHits,
  type LiteralTexts,
  literalScore,
  literalTexts,
  normalizedName,
} from './literal.ts';
import { TOOL_CATEGORIES, type ToolMetadata } from './metadata.ts';
import { Postings } from './postings.ts';
import { type RequestTerm, readRequest, type Vocabulary } from './request.ts';
import { Tally } from './tally.ts';
import { isContentWord, runs, stem } from './terms.ts';

/** Returns the key of TOOL in a catalog. */
export function keyOf({ id, name }: ToolMetadata): string {
  return id ?? name;
}

/** BM25's k1: how soon further occurrences of a term add little. */
const SATURATION = 1.2;
/** The posting weight at which a tool covers a term in full; a term in a minor field only is covered in part. */
const FULL_COVERAGE_WEIGHT = 1.6;
/** The public tools count as this many tools in the IDF. */
const PUBLIC_WEIGHT = 100;
/** The index is compacted when deleted tools outnumber the others by this many, because small catalogs change often. */
const COMPACTION_THRESHOLD = 1000;

/** A tool that the ranking found. */
export interface Ranked {
  tool: ToolMetadata;
  /** How much of the request's subject it covers, from 0 to 1; only where asked for. */
  coverage?: number;
}

/** A tool as added, and the requests that it served. */
interface Document {
  key: string;
  tool: ToolMetadata;
  past: readonly string[];
  /** The texts for literal hits; built by the first search that needs them. */
  texts: LiteralTexts | undefined;
}

/** A term of a request. WEIGHT counts in the score, SUBJECT_WEIGHT in the subject (for coverage); both have the IDF. */
interface QueryTerm {
  term: number;
  weight: number;
  subjectWeight: number;
}

/** The best tools, and how many tools were found in each of TOOL_CATEGORIES. */
export interface RankedTools {
  tools: Ranked[];
  categories: readonly number[];
}

/** A search index of tools, which can be added, replaced and deleted at any time. */
export class Ranking {
  #lexicon = new Lexicon();
  #postings = new Postings();
  /** Document frequency: how many tools have each term. */
  #documentFrequencies: number[] = [];
  /** The tools by document number. A replaced tool gets a new number. */
  #documents: (Document | undefined)[] = [];
  readonly #ids = new Map<string, number>();
  /** Document numbers by tool name, as `spelled` normalizes it; deleted ones may remain. */
  readonly #idsByName = new Map<string, number | number[]>();
  /** The score sums of a search. A document's kind is the index of its category in TOOL_CATEGORIES. */
  #tally = new Tally();

  /** Adds TOOL, or replaces the tool with its key. PAST are requests that it served. */
  set(tool: ToolMetadata, past: readonly string[] = []): void {
    const key = keyOf(tool);
    this.delete(key);
    this.#add({ key, tool, past, texts: undefined });
  }

  /** Deletes the tool with KEY, if any. */
  delete(key: string): void {
    const id = this.#ids.get(key);
    const document = id === undefined ? undefined : this.#documents[id];
    if (id === undefined || document === undefined) return;
    for (const term of this.#weigh(document).keys())
      this.#documentFrequencies[term] = this.#documentFrequency(term) - 1;
    this.#documents[id] = undefined;
    this.#tally.delete(id);
    this.#ids.delete(key);
    if (this.#documents.length > this.#ids.size * 2 + COMPACTION_THRESHOLD) this.#compact();
  }

  /** Builds the index anew, without deleted tools and without words that no tool has any more. */
  #compact(): void {
    const documents = this.#documents.filter((document) => document !== undefined);
    this.#lexicon = new Lexicon();
    this.#postings = new Postings();
    this.#documentFrequencies = [];
    this.#documents = [];
    this.#ids.clear();
    this.#idsByName.clear();
    this.#tally = new Tally();
    for (const document of documents) this.#add(document);
  }

  /** Assigns DOCUMENT the next document number, and returns the number. */
  #number(document: Document): number {
    const id = this.#documents.push(document) - 1;
    this.#ids.set(document.key, id);
    this.#tally.add(id, TOOL_CATEGORIES.indexOf(document.tool.category));
    const name = normalizedName(document.tool.name);
    const others = this.#idsByName.get(name);
    if (typeof others === 'object') others.push(id);
    else this.#idsByName.set(name, others === undefined ? id : [others, id]);
    return id;
  }

  #add(document: Document): void {
    const id = this.#number(document);
    for (const [term, weight] of this.#weigh(document)) {
      this.#documentFrequencies[term] = this.#documentFrequency(term) + 1;
      this.#postings.add(term, id, (weight * (SATURATION + 1)) / (weight + SATURATION));
    }
  }

  /** Returns the weight of each term in DOCUMENT. */
  #weigh({ tool, past }: Document): Map<number, number> {
    const weights = new Map<number, number>();
    const add = (term: number, more: number) => weights.set(term, (weights.get(term) ?? 0) + more);
    for (const [field, text] of Object.entries(fieldsOf(tool))) {
      if (text === '') continue;
      const terms = this.#lexicon.learn(text);
      const { weight, length } = FIELDS[field as Field];
      const termWeight = weight / (1 - length + (length * terms.length) / (PUBLIC_LENGTHS[field] ?? 1));
      for (const term of terms) add(term, termWeight);
    }
    for (const term of new Set(past.flatMap((request) => this.#lexicon.learn(request))))
      add(term, MEMORY_WEIGHT);
    return weights;
  }

  #documentFrequency(term: number): number {
    return this.#documentFrequencies[term] ?? 0;
  }

  /** Looks up words of requests. Terms that only deleted tools have count as unknown. */
  readonly #vocabulary: Vocabulary = {
    termOf: (word) => this.#termInUse(this.#lexicon.termOf(word)),
    termOfJoined: (first, second) => this.#termInUse(this.#lexicon.termOfJoined(first, second)),
    corrected: (word) => this.#lexicon.corrected(word),
  };

  /** Returns TERM if a tool has it, else NO_TERM. */
  #termInUse(term: number): number {
    return this.#documentFrequency(term) > 0 ? term : NO_TERM;
  }

  /** Returns the best MOST tools for QUERY, without those in EXCLUDED and those that ACCEPTS rejects. The first SHOWN
   *  get their coverage. The counts by category include all tools that share a term with QUERY (S1.15, C32). */
  rank(
    query: string,
    { most, shown }: { most: number; shown: number },
    excluded: readonly ToolMetadata[] = [],
    accepts?: (tool: ToolMetadata) => boolean,
  ): RankedTools {
    const requestTerms = readRequest(query, this.#vocabulary);
    const { terms, subject } = this.#queryTerms(requestTerms);
    const tally = this.#tally;
    for (const { term, weight } of terms) this.#postings.accumulate(term, weight, tally);
    const categories = Array<number>(TOOL_CATEGORIES.length).fill(0);
    const best = tally.best(most, categories, this.#accepted(excluded, accepts));
    tally.clear();
    const shares = this.#sharesOf(best.slice(0, shown), terms);
    const tools = best.map((id, at): Ranked => {
      const { tool } = this.#documents[id] as Document;
      return at < shown ? { tool, coverage: subject === 0 ? 1 : (shares.get(id) ?? 0) / subject } : { tool };
    });
    return { tools, categories };
  }

  /** Maps each of the document numbers IDS to the sum of SUBJECT_WEIGHT over the TERMS that the tool has. */
  #sharesOf(ids: readonly number[], terms: readonly QueryTerm[]): Map<number, number> {
    const shares = new Map<number, number>();
    for (const { term, subjectWeight } of terms) {
      this.#postings.intersect(term, ids, (id, value) => {
        shares.set(id, (shares.get(id) ?? 0) + subjectWeight * Math.min(1, value / FULL_COVERAGE_WEIGHT));
      });
    }
    return shares;
  }

  /** Returns a predicate on document numbers, false for tools in EXCLUDED and those that ACCEPTS rejects; undefined
   *  when it would accept all. */
  #accepted(excluded: readonly ToolMetadata[], accepts?: (tool: ToolMetadata) => boolean) {
    if (excluded.length === 0 && accepts === undefined) return undefined;
    const excludedIds = new Set(excluded.map((tool) => this.#ids.get(keyOf(tool))));
    return (id: number) =>
      !excludedIds.has(id) && accepts?.((this.#documents[id] as Document).tool) !== false;
  }

  /** Returns the terms of REQUEST_TERMS that tools have, each once. SUBJECT is the whole subject: the sum of
   *  SUBJECT_WEIGHT over REQUEST_TERMS. */
  #queryTerms(requestTerms: readonly RequestTerm[]): { terms: QueryTerm[]; subject: number } {
    const terms = new Map<number, QueryTerm>();
    let subject = 0;
    for (const { word, term, weight, subjectWeight } of requestTerms) {
      const idf =
        term === NO_TERM
          ? this.#idf(0, publicShare(stem(word)))
          : this.#idf(this.#documentFrequency(term), this.#lexicon.shareOf(term));
      subject += subjectWeight * idf;
      if (term === NO_TERM || weight === 0) continue;
      const previous = terms.get(term);
      terms.set(term, {
        term,
        weight: Math.max(previous?.weight ?? 0, weight * idf),
        subjectWeight: (previous?.subjectWeight ?? 0) + subjectWeight * idf,
      });
    }
    return { terms: [...terms.values()], subject };
  }

  /** Returns the IDF of a term that HOLDERS tools here have, and SHARE of the public tools. */
  #idf(holders: number, share: number): number {
    return Math.log((this.#ids.size + PUBLIC_WEIGHT) / (holders + PUBLIC_WEIGHT * share));
  }

  /** Returns the tools with the name NAME (in any case, with - as _), and the tool with the id NAME. */
  named(name: string): ToolMetadata[] {
    const ids = this.#idsOf(normalizedName(name));
    const id = this.#ids.get(name);
    if (id !== undefined && !ids.includes(id)) ids.push(id);
    return ids.flatMap((documentId) => this.#documents[documentId]?.tool ?? []);
  }

  /** Returns the document numbers of NAME, as `spelled` normalizes it. */
  #idsOf(name: string): number[] {
    return [this.#idsByName.get(name) ?? []].flat().filter((id) => this.#documents[id] !== undefined);
  }

  /** Returns the literal hits of QUERY with their points (S1.2). */
  literal(query: string): LiteralHits {
    const hits = new Map<ToolMetadata, number>();
    const normalized = { text: query.toLowerCase(), name: normalizedName(query) };
    for (const id of this.#candidateIds(normalized.text) ?? this.#documents.keys()) {
      const document = this.#documents[id];
      if (document === undefined) continue;
      document.texts ??= literalTexts(document.tool);
      const score = literalScore(document.texts, normalized);
      if (score > 0) hits.set(document.tool, score);
    }
    return hits;
  }

  /** Returns the numbers of the documents that may contain TEXT: those with all runs inside TEXT as words, else those
   *  with words that fit the runs at its ends. Undefined when TEXT has only stop words. */
  #candidateIds(text: string): Iterable<number> | undefined {
    const inner: number[] = [];
    const ends: { run: string; first: boolean; last: boolean }[] = [];
    for (const { run, index } of runs(text)) {
      if (!isContentWord(run)) continue;
      const [first, last] = [index === 0, index + run.length === text.length];
      const term = this.#lexicon.termOfExactForm(run);
      // A run at an end of the text can be part of a longer word.
      if (first || last) ends.push({ run, first, last });
      else if (term === NO_TERM) return [];
      else inner.push(term);
    }
    if (inner.length > 0) return this.#idsHavingAll(inner);
    return ends.length === 0 ? undefined : this.#idsWithEnds(ends);
  }

  /** Returns the numbers of the documents that have, for each of ENDS, a word that fits it. */
  #idsWithEnds(ends: readonly { run: string; first: boolean; last: boolean }[]): number[] {
    const matchedEnds = new Uint8Array(this.#documents.length);
    let ids: number[] = [];
    ends.forEach((end, at) => {
      ids = [];
      for (const term of this.#lexicon.termsWith(end.run, end)) {
        for (const id of this.#postings.holders(term)) {
          if (matchedEnds[id] !== at) continue;
          matchedEnds[id] = at + 1;
          ids.push(id);
        }
      }
    });
    return ids;
  }

  /** Returns the numbers of the documents that have all TERMS. */
  #idsHavingAll(terms: readonly number[]): readonly number[] {
    const sorted = terms.toSorted(
      (one, other) => this.#documentFrequency(one) - this.#documentFrequency(other),
    );
    const [rarest = NO_TERM, ...others] = new Set(sorted);
    let ids: readonly number[] = this.#postings.holders(rarest);
    for (const term of others) ids = ids.length === 0 ? ids : this.#postings.intersect(term, ids);
    return ids;
  }
}
