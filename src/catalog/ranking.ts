// Decides which tools a request in plain words means, the likeliest first: BM25 over weighted fields.

import { USUAL_LENGTHS, usualShare } from './background.ts';
import { FIELDS, type Field, fieldsOf, MEMORY_WEIGHT } from './fields.ts';
import { TOOL_CATEGORIES, type ToolMetadata } from './metadata.ts';
import { Postings } from './postings.ts';
import { type Asked, readRequest } from './request.ts';
import { Spelling } from './spelling.ts';
import { Tally } from './tally.ts';
import { isTelling, stem, words } from './terms.ts';

/** Returns NAME as names are compared: in lower case, where - equals _ (C1). */
export function spelled(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

/** Returns the key of TOOL in a catalog. */
export function keyOf({ id, name }: ToolMetadata): string {
  return id ?? name;
}

/** How soon more of a term tells no more. */
const SATURATION = 1.2;
/** How many tools of the catalog outweigh the public ones, when it is told how rare a term is. */
const PUBLIC_WEIGHT = 100;
/** Tools that are gone before the texts are arranged anew: those of a small catalog change often. */
const LEAST_GONE = 1000;

/** A word that tells nothing has no term. */
const NO_TERM = -1;

/** A tool that was found, and which part of what the request is about it has, from 0 to 1. */
export interface Ranked {
  tool: ToolMetadata;
  covered: number;
}

/** A tool as it was added, and the requests that it served before. */
interface Document {
  key: string;
  tool: ToolMetadata;
  past: readonly string[];
}

/** A term of a request: what it tells of a tool that has it, and of whether the tool is meant. */
interface Wanted {
  term: number;
  weight: number;
  about: number;
}

/** The likeliest tools, and how many there are in each of TOOL_CATEGORIES. */
export interface RankedTools {
  tools: Ranked[];
  categories: readonly number[];
}

/** The texts of some tools, arranged so that requests find them; a tool can come, change and go at any time. */
export class Ranking {
  /** The number of each term. */
  readonly #terms = new Map<string, number>();
  /** The terms of words as they are written. */
  readonly #words = new Map<string, number>();
  #spelling = new Spelling();
  #postings = new Postings();
  /** How many tools have each term. */
  readonly #holders: number[] = [];
  /** Which share of the public tools has each term. */
  readonly #shares: number[] = [];
  /** The tools by number; one that changed has another number. */
  #documents: (Document | undefined)[] = [];
  readonly #ids = new Map<string, number>();
  /** The numbers of the tools of each name, as `spelled` writes it; some can be of tools that are gone. */
  readonly #named = new Map<string, number | readonly number[]>();
  /** What a search adds up for each tool, whose kind is the place of its category among TOOL_CATEGORIES. */
  readonly #tally = new Tally();

  /** Adds TOOL, or puts it in place of the one with its key. PAST are requests that it served. */
  set(tool: ToolMetadata, past: readonly string[] = []): void {
    const key = keyOf(tool);
    this.delete(key);
    this.#add({ key, tool, past });
  }

  /** Takes out the tool under KEY, if there is one. */
  delete(key: string): void {
    const id = this.#ids.get(key);
    const document = id === undefined ? undefined : this.#documents[id];
    if (id === undefined || document === undefined) return;
    for (const term of this.#weigh(document).keys()) this.#holders[term] = this.#holdersOf(term) - 1;
    this.#documents[id] = undefined;
    this.#tally.delete(id);
    this.#ids.delete(key);
    if (this.#documents.length > this.#ids.size * 2 + LEAST_GONE) this.#arrangeAnew();
  }

  #arrangeAnew(): void {
    const documents = this.#documents;
    this.#postings = new Postings();
    this.#spelling = new Spelling();
    for (const map of [this.#terms, this.#words, this.#ids, this.#named]) map.clear();
    for (const list of [this.#holders, this.#shares]) list.length = 0;
    this.#documents = [];
    for (const document of documents) if (document !== undefined) this.#add(document);
  }

  #add(document: Document): void {
    const id = this.#documents.push(document) - 1;
    this.#ids.set(document.key, id);
    this.#tally.add(id, TOOL_CATEGORIES.indexOf(document.tool.category));
    const name = spelled(document.tool.name);
    const others = this.#idsOf(name);
    this.#named.set(name, others.length === 0 ? id : [...others, id]);
    for (const [term, weight] of this.#weigh(document)) {
      this.#holders[term] = this.#holdersOf(term) + 1;
      this.#postings.add(term, id, (weight * (SATURATION + 1)) / (weight + SATURATION));
    }
  }

  /** Returns what each term of DOCUMENT weighs in it. */
  #weigh({ tool, past }: Document): Map<number, number> {
    const weights = new Map<number, number>();
    const add = (term: number, more: number) => weights.set(term, (weights.get(term) ?? 0) + more);
    for (const [field, text] of Object.entries(fieldsOf(tool))) {
      if (text === '') continue;
      const terms = this.#termsOf(text);
      const { weight, length } = FIELDS[field as Field];
      const each = weight / (1 - length + (length * terms.length) / (USUAL_LENGTHS[field] ?? 1));
      for (const term of terms) add(term, each);
    }
    for (const term of new Set(past.flatMap((request) => this.#termsOf(request)))) add(term, MEMORY_WEIGHT);
    return weights;
  }

  #termsOf(text: string): number[] {
    return words(text)
      .map((word) => this.#words.get(word) ?? this.#learn(word))
      .filter((term) => term !== NO_TERM);
  }

  /** Returns the term of WORD, which is new. */
  #learn(word: string): number {
    const text = isTelling(word) ? stem(word) : undefined;
    const term = text === undefined ? NO_TERM : (this.#terms.get(text) ?? this.#terms.size);
    if (text !== undefined) {
      this.#terms.set(text, term);
      this.#shares[term] ??= usualShare(text);
      // A number is no slip of another.
      if (!/\d/.test(word)) this.#spelling.add(word);
    }
    this.#words.set(word, term);
    return term;
  }

  #holdersOf(term: number): number {
    return this.#holders[term] ?? 0;
  }

  /** Returns the term of WORD when a tool has it. */
  #known(word: string): number | undefined {
    const term = this.#words.get(word) ?? this.#terms.get(stem(word));
    return term !== undefined && this.#holdersOf(term) > 0 ? term : undefined;
  }

  /** Returns what QUERY finds besides the tools WITHOUT and among those that ACCEPTS lets pass: at most MOST of them, the
   *  likeliest first. Counts all of them that share a telling word with QUERY (S1.15, C32). */
  rank(
    query: string,
    most: number,
    without: readonly ToolMetadata[] = [],
    accepts?: (tool: ToolMetadata) => boolean,
  ): RankedTools {
    const asked = readRequest(query, {
      has: (word) => this.#known(word) !== undefined,
      mended: (word) => this.#spelling.mended(word),
    });
    const all = asked.reduce((sum, { word, about }) => sum + (about && about * this.#tellingOfWord(word)), 0);
    const tally = this.#tally;
    for (const { term, weight, about } of this.#wanted(asked)) {
      this.#postings.addUp(term, weight, about, tally);
    }
    const categories = Array<number>(TOOL_CATEGORIES.length).fill(0);
    const best = tally.best(most, categories, this.#accepted(without, accepts));
    const tools = best.map((id): Ranked => {
      const { tool } = this.#documents[id] as Document;
      return { tool, covered: all === 0 ? 1 : tally.share(id) / all };
    });
    tally.clear();
    return { tools, categories };
  }

  /** Returns what says by its number whether a tool is none of those WITHOUT, and ACCEPTS lets it pass; undefined when
   *  all are accepted. */
  #accepted(without: readonly ToolMetadata[], accepts?: (tool: ToolMetadata) => boolean) {
    if (without.length === 0 && accepts === undefined) return undefined;
    const left = new Set(without.map((tool) => this.#ids.get(keyOf(tool))));
    return (id: number) => !left.has(id) && accepts?.((this.#documents[id] as Document).tool) !== false;
  }

  /** Returns the terms of the words ASKED for that tools have, each once. */
  #wanted(asked: readonly Asked[]): Wanted[] {
    const wanted = new Map<number, Wanted>();
    for (const { word, weight, about } of asked) {
      const term = weight > 0 ? this.#known(word) : undefined;
      if (term === undefined) continue;
      const before = wanted.get(term);
      const telling = this.#telling(this.#holdersOf(term), this.#shares[term] ?? 0);
      wanted.set(term, {
        term,
        weight: Math.max(before?.weight ?? 0, weight * telling),
        about: (before?.about ?? 0) + about * telling,
      });
    }
    return [...wanted.values()];
  }

  /** Returns how much a term tells one tool from others that HOLDERS tools have here, and SHARE of the public ones. */
  #telling(holders: number, share: number): number {
    return Math.log((this.#ids.size + PUBLIC_WEIGHT) / (holders + PUBLIC_WEIGHT * share));
  }

  /** Returns how much WORD tells, which is unknown here or not. */
  #tellingOfWord(word: string): number {
    const term = this.#known(word);
    if (term === undefined) return this.#telling(0, usualShare(stem(word)));
    return this.#telling(this.#holdersOf(term), this.#shares[term] ?? 0);
  }

  /** Returns the tools of exactly that NAME, in any case, where - equals _. */
  named(name: string): ToolMetadata[] {
    return this.#idsOf(spelled(name)).flatMap((id) => this.#documents[id]?.tool ?? []);
  }

  /** Returns the numbers of the tools of NAME, as `spelled` writes it. */
  #idsOf(name: string): number[] {
    const ids = this.#named.get(name);
    if (ids === undefined) return [];
    return [ids].flat().filter((id) => this.#documents[id] !== undefined);
  }

  /** Returns the tools whose texts can have TEXT, which is in lower case, as a part: all that have one of its words. */
  *holding(text: string): Iterable<ToolMetadata> {
    const ids = this.#idsHolding(text) ?? this.#documents.keys();
    for (const id of ids) {
      const document = this.#documents[id];
      if (document !== undefined) yield document.tool;
    }
  }

  /** Returns the numbers of the tools that have one of the words of TEXT; undefined when none of them tells. */
  #idsHolding(text: string): Iterable<number> | undefined {
    const runs = [...text.matchAll(/[\p{L}\p{N}]+/gu)].filter(([run]) => isTelling(run));
    const longest = runs.reduce((best, [run]) => (run.length > best.length ? run : best), '');
    if (longest === '') return undefined;
    // One at an end of the text can be a part of a longer word.
    const whole = runs.filter(({ 0: run, index }) => index > 0 && index + run.length < text.length);
    const terms = whole.length > 0 ? [this.#rarest(whole.map(([run]) => run))] : this.#termsWithin(longest);
    return new Set([...terms].flatMap((term) => this.#postings.holders(term)));
  }

  /** Returns the term of that of LIST which the fewest tools have. */
  #rarest(list: readonly string[]): number {
    const terms = list.map((word) => this.#words.get(word) ?? NO_TERM);
    return terms.reduce((best, term) => (this.#holdersOf(term) < this.#holdersOf(best) ? term : best));
  }

  /** Returns the terms of the words that have TEXT as a part. */
  #termsWithin(text: string): Set<number> {
    const terms = new Set<number>();
    for (const [word, term] of this.#words) if (term !== NO_TERM && word.includes(text)) terms.add(term);
    return terms;
  }
}
