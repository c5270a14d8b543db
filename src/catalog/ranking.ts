// Decides which tools a request in plain words means, the likeliest first: BM25 over weighted fields.

import { USUAL_LENGTHS, usualShare } from './background.ts';
import { FIELDS, type Field, fieldsOf, MEMORY_WEIGHT } from './fields.ts';
import { Lexicon, NO_TERM } from './lexicon.ts';
import { type LiteralHits, type LiteralTexts, literalScore, literalTexts, spelled } from './literal.ts';
import { TOOL_CATEGORIES, type ToolMetadata } from './metadata.ts';
import { Postings } from './postings.ts';
import { type Asked, readRequest, type Vocabulary } from './request.ts';
import { Tally } from './tally.ts';
import { isTelling, runs, stem } from './terms.ts';

/** Returns the key of TOOL in a catalog. */
export function keyOf({ id, name }: ToolMetadata): string {
  return id ?? name;
}

/** How soon more of a term tells no more. */
const SATURATION = 1.2;
/** What a term tells of a tool that covers it in full; what a side text alone has is covered in part. */
const IN_FULL = 1.6;
/** How many tools of the catalog outweigh the public ones, when it is told how rare a term is. */
const PUBLIC_WEIGHT = 100;
/** Tools that are gone before the texts are arranged anew: those of a small catalog change often. */
const LEAST_GONE = 1000;

/** A tool that was found. */
export interface Ranked {
  tool: ToolMetadata;
  /** Which part of what the request is about it has, from 0 to 1, where that was asked for. */
  covered?: number;
}

/** A tool as it was added, and the requests that it served before. */
interface Document {
  key: string;
  tool: ToolMetadata;
  past: readonly string[];
  /** What literal hits are looked for in, once a search has needed it. */
  texts: LiteralTexts | undefined;
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
  readonly #lexicon = new Lexicon();
  #postings = new Postings();
  /** How many tools have each term. */
  #holders: number[] = [];
  /** The tools by number; one that changed has another number. */
  #documents: (Document | undefined)[] = [];
  readonly #ids = new Map<string, number>();
  /** The numbers of the tools of each name, as `spelled` writes it; some can be of tools that are gone. */
  readonly #named = new Map<string, number | number[]>();
  /** What a search adds up for each tool, whose kind is the place of its category among TOOL_CATEGORIES. */
  readonly #tally = new Tally();

  /** Adds TOOL, or puts it in place of the one with its key. PAST are requests that it served. */
  set(tool: ToolMetadata, past: readonly string[] = []): void {
    const key = keyOf(tool);
    this.delete(key);
    this.#add({ key, tool, past, texts: undefined });
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

  /** Takes out what is left of the tools that are gone, and of words that no tool has any more. */
  #arrangeAnew(): void {
    const ids = placesOf(this.#documents, (document) => document !== undefined);
    const terms = placesOf(this.#holders, (holders) => holders > 0);
    this.#postings = this.#postings.renumbered(terms, ids);
    this.#lexicon.renumber(terms);
    this.#holders = this.#holders.filter((holders) => holders > 0);
    const documents = this.#documents.filter((document) => document !== undefined);
    this.#documents = [];
    this.#named.clear();
    for (const document of documents) this.#number(document);
  }

  /** Gives DOCUMENT the next number, and returns that. */
  #number(document: Document): number {
    const id = this.#documents.push(document) - 1;
    this.#ids.set(document.key, id);
    this.#tally.add(id, TOOL_CATEGORIES.indexOf(document.tool.category));
    const name = spelled(document.tool.name);
    const others = this.#named.get(name);
    if (typeof others === 'object') others.push(id);
    else this.#named.set(name, others === undefined ? id : [others, id]);
    return id;
  }

  #add(document: Document): void {
    const id = this.#number(document);
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
      const terms = this.#lexicon.learn(text);
      const { weight, length } = FIELDS[field as Field];
      const each = weight / (1 - length + (length * terms.length) / (USUAL_LENGTHS[field] ?? 1));
      for (const term of terms) add(term, each);
    }
    for (const term of new Set(past.flatMap((request) => this.#lexicon.learn(request))))
      add(term, MEMORY_WEIGHT);
    return weights;
  }

  #holdersOf(term: number): number {
    return this.#holders[term] ?? 0;
  }

  /** What requests are read with. */
  readonly #vocabulary: Vocabulary = {
    termOf: (word) => this.#held(this.#lexicon.termOf(word)),
    termOfJoined: (first, second) => this.#held(this.#lexicon.termOfJoined(first, second)),
    mended: (word) => this.#lexicon.mended(word),
  };

  /** Returns TERM when a tool has it, else NO_TERM. */
  #held(term: number): number {
    return this.#holdersOf(term) > 0 ? term : NO_TERM;
  }

  /** Returns what QUERY finds besides the tools WITHOUT and among those that ACCEPTS lets pass: at most MOST of them, the
   *  likeliest first. What they cover is told of the first SHOWN. Counts all that share a telling word with QUERY (S1.15,
   *  C32). */
  rank(
    query: string,
    { most, shown }: { most: number; shown: number },
    without: readonly ToolMetadata[] = [],
    accepts?: (tool: ToolMetadata) => boolean,
  ): RankedTools {
    const asked = readRequest(query, this.#vocabulary);
    const { wanted, all } = this.#wanted(asked);
    const tally = this.#tally;
    for (const { term, weight } of wanted) this.#postings.addUp(term, weight, tally);
    const categories = Array<number>(TOOL_CATEGORIES.length).fill(0);
    const best = tally.best(most, categories, this.#accepted(without, accepts));
    tally.clear();
    const shares = this.#sharesOf(best.slice(0, shown), wanted);
    const tools = best.map((id, at): Ranked => {
      const { tool } = this.#documents[id] as Document;
      return at < shown ? { tool, covered: all === 0 ? 1 : (shares.get(id) ?? 0) / all } : { tool };
    });
    return { tools, categories };
  }

  /** Returns how much each tool of IDS has of what the terms WANTED are about. */
  #sharesOf(ids: readonly number[], wanted: readonly Wanted[]): Map<number, number> {
    const shares = new Map<number, number>();
    const ascending = ids.toSorted((one, other) => one - other);
    for (const { term, about } of wanted) {
      this.#postings.among(term, ascending, (id, value) => {
        shares.set(id, (shares.get(id) ?? 0) + about * Math.min(1, value / IN_FULL));
      });
    }
    return shares;
  }

  /** Returns what says by its number whether a tool is none of those WITHOUT, and ACCEPTS lets it pass; undefined when
   *  all are accepted. */
  #accepted(without: readonly ToolMetadata[], accepts?: (tool: ToolMetadata) => boolean) {
    if (without.length === 0 && accepts === undefined) return undefined;
    const left = new Set(without.map((tool) => this.#ids.get(keyOf(tool))));
    return (id: number) => !left.has(id) && accepts?.((this.#documents[id] as Document).tool) !== false;
  }

  /** Returns the terms of the words ASKED for that tools have, each once, and how much ALL of ASKED is about. */
  #wanted(asked: readonly Asked[]): { wanted: Wanted[]; all: number } {
    const wanted = new Map<number, Wanted>();
    let all = 0;
    for (const { word, term, weight, about } of asked) {
      const telling =
        term === NO_TERM
          ? this.#telling(0, usualShare(stem(word)))
          : this.#telling(this.#holdersOf(term), this.#lexicon.shareOf(term));
      all += about * telling;
      if (term === NO_TERM || weight === 0) continue;
      const before = wanted.get(term);
      wanted.set(term, {
        term,
        weight: Math.max(before?.weight ?? 0, weight * telling),
        about: (before?.about ?? 0) + about * telling,
      });
    }
    return { wanted: [...wanted.values()], all };
  }

  /** Returns how much a term tells one tool from others that HOLDERS tools have here, and SHARE of the public ones. */
  #telling(holders: number, share: number): number {
    return Math.log((this.#ids.size + PUBLIC_WEIGHT) / (holders + PUBLIC_WEIGHT * share));
  }

  /** Returns the tools of exactly that NAME, in any case, where - equals _, and the one of that id. */
  named(name: string): ToolMetadata[] {
    const ids = this.#idsOf(spelled(name));
    const id = this.#ids.get(name);
    if (id !== undefined && !ids.includes(id)) ids.push(id);
    return ids.flatMap((each) => this.#documents[each]?.tool ?? []);
  }

  /** Returns the numbers of the tools of NAME, as `spelled` writes it. */
  #idsOf(name: string): number[] {
    return [this.#named.get(name) ?? []].flat().filter((id) => this.#documents[id] !== undefined);
  }

  /** Returns the literal hits of QUERY with their points (S1.2). */
  literal(query: string): LiteralHits {
    const hits = new Map<ToolMetadata, number>();
    const wanted = { text: query.toLowerCase(), name: spelled(query) };
    for (const id of this.#idsHolding(wanted.text) ?? this.#documents.keys()) {
      const document = this.#documents[id];
      if (document === undefined) continue;
      document.texts ??= literalTexts(document.tool);
      const score = literalScore(document.texts, wanted);
      if (score > 0) hits.set(document.tool, score);
    }
    return hits;
  }

  /** Returns the numbers of the tools that have the words within TEXT, else those at its ends; undefined when none tells. */
  #idsHolding(text: string): Iterable<number> | undefined {
    const within: number[] = [];
    const ends: { run: string; first: boolean; last: boolean }[] = [];
    for (const { run, index } of runs(text)) {
      if (!isTelling(run)) continue;
      const [first, last] = [index === 0, index + run.length === text.length];
      const term = this.#lexicon.termOfWritten(run);
      // One at an end of the text can be a part of a longer word.
      if (first || last) ends.push({ run, first, last });
      else if (term === NO_TERM) return [];
      else within.push(term);
    }
    if (within.length > 0) return this.#idsHavingAll(within);
    return ends.length === 0 ? undefined : this.#idsWithEnds(ends);
  }

  /** Returns the numbers of the tools that have a word for each of ENDS. */
  #idsWithEnds(ends: readonly { run: string; first: boolean; last: boolean }[]): number[] {
    const met = new Uint8Array(this.#documents.length);
    let ids: number[] = [];
    ends.forEach((end, at) => {
      ids = [];
      for (const term of this.#lexicon.termsWith(end.run, end)) {
        for (const id of this.#postings.holders(term)) {
          if (met[id] !== at) continue;
          met[id] = at + 1;
          ids.push(id);
        }
      }
    });
    return ids;
  }

  /** Returns the numbers of the tools that have all TERMS. */
  #idsHavingAll(terms: readonly number[]): number[] {
    const sorted = terms.toSorted((one, other) => this.#holdersOf(one) - this.#holdersOf(other));
    const [rarest = NO_TERM, ...others] = new Set(sorted);
    let ids = this.#postings.holders(rarest);
    for (const term of others) ids = ids.length === 0 ? ids : this.#postings.among(term, ids);
    return ids;
  }
}

/** Returns the place that each of LIST has among those that STAYS is true of, -1 for the others. */
function placesOf<Item>(list: readonly Item[], stays: (item: Item) => boolean): Int32Array {
  let next = 0;
  return Int32Array.from(list, (item) => (stays(item) ? next++ : -1));
}
