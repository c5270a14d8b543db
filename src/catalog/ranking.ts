// Decides which tools a request in plain words means, the likeliest first.

import { distance } from 'fastest-levenshtein';
import MiniSearch, { type SearchResult } from 'minisearch';
import { stemmer } from 'stemmer';
import { MOST_KEYWORDS } from '../kernel/tool.ts';
import type { ToolMetadata } from './metadata.ts';
import { COMMON_WORDS, STOP_WORDS } from './words.ts';

/** What a common word counts beside another one: as a part of what a request is about, and of the score. */
const COMMON_PART = 0.3;
const COMMON_BOOST = 0.7;
/** What a request counts at least as: one common word alone tells little. */
const LEAST_WEIGHT = 0.8;

/** Fields of a tool, and how much a word in one tells. */
const WEIGHTS = { name: 2, best: 1.5, keywords: 2, short: 1.5, full: 0.5, parameters: 0.7, texts: 0.3 };
const WEAK_FIELDS = ['full', 'parameters', 'texts'];
const WEAK_PART = 0.4;

/** How much of a request a tool must be about, from 0 to 1, to be an answer. */
const LEAST_COVERAGE = 0.2;
/** Tools below this part of the best score are left out; the second when the best is about less of the request
 *  than SURE_COVERAGE. */
const LEAST_PART = 0.2;
const LEAST_PART_UNSURE = 0.7;
const SURE_COVERAGE = 0.4;

/** Characters of a request that are read. */
export const QUERY_LIMIT = 1000;

/** The texts of some tools, arranged so that requests find them. */
export class Ranking {
  readonly #tools: readonly ToolMetadata[];
  readonly #search: MiniSearch;
  /** All words and terms of the tools' texts. */
  readonly #vocabulary: ReadonlySet<string>;
  /** The stems in it of COMMON_WORDS. */
  readonly #common: ReadonlySet<string>;

  constructor(tools: readonly ToolMetadata[]) {
    const texts = tools.map(fieldsOf);
    this.#tools = tools;
    this.#search = new MiniSearch({
      fields: Object.keys(WEIGHTS),
      tokenize: terms,
      processTerm: (term) => term,
      searchOptions: { boost: WEIGHTS, bm25: { k: 1.2, b: 0.3, d: 0.5 } },
    });
    this.#search.addAll(texts.map((fields, id) => ({ id, ...fields })));
    const all = texts.flatMap((fields) => Object.values(fields));
    this.#vocabulary = new Set(all.flatMap((text) => [...words(text), ...terms(text)]));
    const stems = COMMON_WORDS.map((word) => stemmer(word));
    this.#common = new Set(stems.filter((stem) => this.#vocabulary.has(stem)));
  }

  /** Returns those of the tools that have to do with QUERY, the likeliest first (S1.15). */
  rank(query: string): ToolMetadata[] {
    const { text, looks, hasNames } = readRequest(query.slice(0, QUERY_LIMIT), this.#vocabulary);
    const written = terms(text).length;
    const boostOf = (term: string) => (this.#common.has(term) ? COMMON_BOOST : 1);
    const boostTerm = (term: string, at: number) => (at < written ? boostOf(term) : LOOKS_BOOST);
    const asked = tellingWords(`${text} ${looks}`);
    const least = hasNames ? LEAST_COVERAGE / 2 : LEAST_COVERAGE;
    const found = this.#search
      .search(`${text}, ${looks}`, { boostTerm })
      .map(({ id, score, match }) => ({ id, score, covered: coverage(asked, match, this.#common) }))
      .filter(({ covered }) => covered >= least);
    const sure = found.some(({ covered }) => covered >= SURE_COVERAGE);
    const leastScore = (found[0]?.score ?? 0) * (sure ? LEAST_PART : LEAST_PART_UNSURE);
    return found.filter(({ score }) => score >= leastScore).flatMap(({ id }) => this.#tools[id] ?? []);
  }
}

function fieldsOf(tool: ToolMetadata): Record<keyof typeof WEIGHTS, string> {
  const parameters = Object.entries(tool.inputSchema.properties);
  return {
    name: tool.name,
    best: tool.keywords.slice(0, MOST_KEYWORDS).join(', '),
    keywords: tool.keywords.join(', '),
    short: tool.shortDescription,
    full: tool.fullDescription,
    parameters: parameters.map(([name]) => name).join(', '),
    texts: parameters.map(([, { description }]) => String(description)).join(', '),
  };
}

/** Returns how much of the words ASKED for a tool is about in which MATCH was found, from 0 to 1. */
function coverage(asked: string[], match: SearchResult['match'], common: ReadonlySet<string>): number {
  const found = (term: string) => {
    const fields = Object.hasOwn(match, term) ? (match[term] ?? []) : [];
    if (fields.length === 0) return 0;
    return fields.every((field) => WEAK_FIELDS.includes(field)) ? WEAK_PART : 1;
  };
  const pairs = [0, ...pairsOf(asked).map(found)];
  const counts = new Map<string, [all: number, covered: number]>();
  asked.forEach((word, at) => {
    const term = stemmer(word);
    const inPair = Math.max(pairs[at] ?? 0, pairs[at + 1] ?? 0);
    const all = common.has(term) ? COMMON_PART + (1 - COMMON_PART) * inPair : 1;
    if (!counts.has(term)) counts.set(term, [all, all * Math.max(found(term), inPair)]);
  });
  const sum = (part: 0 | 1) => [...counts.values()].reduce((total, count) => total + count[part], 0);
  return sum(1) / Math.max(sum(0), LEAST_WEIGHT);
}

/** Words, and the keys of editors such as C-c and M-. */
const WORD = /(?<![\w-])[cms]-(?:[cms]-)?(?:[a-z0-9](?![\w-])|[^\s\w,;:])|[\p{L}\p{N}]+/gu;

/** Returns the words of TEXT in lower case; names in camelCase and snake_case are several. */
function words(text: string): string[] {
  return spaced(text).toLowerCase().match(WORD) ?? [];
}

const spaced = (text: string) => text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');

const tellingWords = (text: string) => words(text).filter((word) => !STOP_WORDS.has(word));

/** Returns the stems of the words of TEXT, and of each two that follow each other in a phrase, as one. */
function terms(text: string): string[] {
  return text.split(/(?<=[\p{L}\p{N})"'])[.:?!,;]\s/u).flatMap((phrase) => {
    const list = tellingWords(phrase);
    return [...list.map((word) => stemmer(word)), ...pairsOf(list)];
  });
}

/** Returns a term for each two words of LIST that follow each other: that of `stacktrace` for stack and trace. */
function pairsOf(list: readonly string[]): string[] {
  return list.slice(1).map((word, at) => stemmer(stemmer(list[at] ?? '') + word));
}

/** What a request is about in which something looks like this. */
const LOOKS: readonly [RegExp, string][] = [
  [/\S\.asd\b/i, 'asdf'],
  [/\S\.(?:lisp|lsp|cl)\b/i, 'source file'],
  [/\w\.(?:md|txt|json|ya?ml|toml|org|csv|html)\b/i, 'text file'],
  [/\([^\s()]+ .*\)/, 'evaluate expression'],
  [/\w::?[\w*]/, 'function'],
  [/(?<![\w.*+/"-])[a-z]\w*(?:-\w+)+(?![\w.*+/-])/, 'function'],
  [/\*\w[\w-]*\*/, 'value variable'],
  [/\+\w[\w-]*\+/, 'constant'],
];
/** What such a thing tells beside what the request says. */
const LOOKS_BOOST = 0.25;

/** Names as only Lisp has them, or a user's own: PACKAGE:NAME, *NAME*, FILE.EXTENSION, NAME-WITH-HYPHENS. */
const NAMES = /[\w.*+-]{0,80}::?[\w*+-]+|\*[\w-]+\*|\w+\.[\w.]+|\w+(?:-\w+)+/g;
/** A form of Lisp, of which the operator tells something, and the rest is names. */
const FORM = /(?<![\w"(])\(([^\s()]+)\s.*\)/s;

/** Returns the text of QUERY without the user's own names, with slips mended to words of VOCABULARY. Returns besides
 *  what it looks like, and whether it had such names. */
function readRequest(query: string, vocabulary: ReadonlySet<string>) {
  const known = (word: string) => vocabulary.has(word.toLowerCase()) || STOP_WORDS.has(word.toLowerCase());
  const isPhrase = (name: string) => words(name).every(known) && pairsOf(tellingWords(name)).every(known);
  const all = spaced(query);
  const plain = all.replace(FORM, ' $1 ').replace(NAMES, (name) => (isPhrase(name) ? name : ' '));
  return {
    text: plain.replace(/(?<!\p{L})[\p{Ll}\p{N}]{4,}(?!\p{L})/gu, (word) =>
      known(word) ? word : mended(word, vocabulary),
    ),
    looks: LOOKS.flatMap(([pattern, meaning]) => (pattern.test(query) ? meaning : [])).join(' '),
    hasNames: plain !== all,
  };
}

/** Returns the word of VOCABULARY that WORD is likeliest a slip of typing of, or WORD. */
function mended(word: string, vocabulary: ReadonlySet<string>): string {
  const letters = [...word].sort().join();
  let least = word.length < 8 ? 1.5 : 2.5;
  let best = word;
  for (const candidate of vocabulary) {
    if (candidate[0] !== word[0] || Math.abs(candidate.length - word.length) > 2) continue;
    const swapped = letters === [...candidate].sort().join();
    if (word.length < 6 && candidate.length === word.length && !swapped) continue;
    const cost = swapped ? distance(word, candidate) / 2 : distance(word, candidate);
    if (cost < least) [best, least] = [candidate, cost];
  }
  return best;
}
