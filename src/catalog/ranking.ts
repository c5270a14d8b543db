// Decides which tools a request in plain words means, the likeliest first.

import { stemmer } from 'stemmer';
import { MOST_KEYWORDS } from '../kernel/tool.ts';
import type { ToolMetadata } from './metadata.ts';
import { Spelling } from './spelling.ts';
import { TermIndex } from './term-index.ts';
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
  readonly #index: TermIndex;
  /** All words and terms of the tools' texts. */
  readonly #vocabulary: Spelling;
  /** The stems in it of COMMON_WORDS. */
  readonly #common: ReadonlySet<string>;

  constructor(tools: readonly ToolMetadata[]) {
    const texts = tools.map(fieldsOf);
    const documents = texts.map((fields) =>
      Object.fromEntries(Object.entries(fields).map(([field, text]) => [field, terms(text)])),
    );
    this.#tools = tools;
    this.#index = new TermIndex(documents, WEIGHTS);
    const all = texts.flatMap((fields) => Object.values(fields));
    this.#vocabulary = new Spelling(all.flatMap((text) => [...words(text), ...terms(text)]));
    const stems = COMMON_WORDS.map(stem);
    this.#common = new Set(stems.filter((each) => this.#vocabulary.has(each)));
  }

  /** Returns those of the tools that have to do with QUERY, the likeliest first (S1.15). */
  rank(query: string): ToolMetadata[] {
    const { text, looks, hasNames } = readRequest(query.slice(0, QUERY_LIMIT), this.#vocabulary);
    const written = terms(text).length;
    const boostOf = (term: string) => (this.#common.has(term) ? COMMON_BOOST : 1);
    const boostTerm = (term: string, at: number) => (at < written ? boostOf(term) : LOOKS_BOOST);
    const searched = terms(`${text}, ${looks}`);
    const coverage = this.#coverageOf(tellingWords(`${text} ${looks}`), new Set(searched));
    const least = hasNames ? LEAST_COVERAGE / 2 : LEAST_COVERAGE;
    const found = this.#index
      .search(searched, boostTerm)
      .map(({ id, score }) => ({ id, score, covered: coverage(id) }))
      .filter(({ covered }) => covered >= least);
    const sure = found.some(({ covered }) => covered >= SURE_COVERAGE);
    const leastScore = (found[0]?.score ?? 0) * (sure ? LEAST_PART : LEAST_PART_UNSURE);
    return found.filter(({ score }) => score >= leastScore).flatMap(({ id }) => this.#tools[id] ?? []);
  }

  /** Returns what tells how much of the words ASKED for a tool is about, from 0 to 1, when SEARCHED are looked for. */
  #coverageOf(asked: string[], searched: ReadonlySet<string>): (id: number) => number {
    const fieldsOfTerm = (term: string) => (searched.has(term) ? this.#index.fieldsWith(term) : undefined);
    const stems = asked.map((word) => ({ term: stem(word), fields: fieldsOfTerm(stem(word)) }));
    const pairFields = pairsOf(asked).map(fieldsOfTerm);
    return (id) => {
      const pairs = [0, ...pairFields.map((fields) => partOf(fields?.get(id)?.fields))];
      const counts = new Map<string, [all: number, covered: number]>();
      stems.forEach(({ term, fields }, at) => {
        if (counts.has(term)) return;
        const inPair = Math.max(pairs[at] ?? 0, pairs[at + 1] ?? 0);
        const all = this.#common.has(term) ? COMMON_PART + (1 - COMMON_PART) * inPair : 1;
        counts.set(term, [all, all * Math.max(partOf(fields?.get(id)?.fields), inPair)]);
      });
      const sum = (part: 0 | 1) => [...counts.values()].reduce((total, count) => total + count[part], 0);
      return sum(1) / Math.max(sum(0), LEAST_WEIGHT);
    };
  }
}

/** Returns how much a term counts that stands in FIELDS of a tool. */
function partOf(fields: readonly string[] = []): number {
  if (fields.length === 0) return 0;
  return fields.every((field) => WEAK_FIELDS.includes(field)) ? WEAK_PART : 1;
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
    return [...list.map(stem), ...pairsOf(list)];
  });
}

/** Stems that were found, by word: the texts of tools and requests have the same words again and again. */
const STEMS = new Map<string, string>();
/** The words and pairs of all tools were 5,576 when they were counted last; a clear costs as much as no map. */
const KEPT_STEMS = 10_000;

function stem(word: string): string {
  const kept = STEMS.get(word);
  if (kept !== undefined) return kept;
  if (STEMS.size >= KEPT_STEMS) STEMS.clear();
  const found = stemmer(word);
  STEMS.set(word, found);
  return found;
}

/** Returns a term for each two words of LIST that follow each other: that of `stacktrace` for stack and trace. */
function pairsOf(list: readonly string[]): string[] {
  return list.slice(1).map((word, at) => stem(stem(list[at] ?? '') + word));
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
function readRequest(query: string, vocabulary: Spelling) {
  const known = (word: string) => vocabulary.has(word.toLowerCase()) || STOP_WORDS.has(word.toLowerCase());
  const isPhrase = (name: string) => words(name).every(known) && pairsOf(tellingWords(name)).every(known);
  const all = spaced(query);
  const plain = all.replace(FORM, ' $1 ').replace(NAMES, (name) => (isPhrase(name) ? name : ' '));
  return {
    text: plain.replace(/(?<!\p{L})[\p{Ll}\p{N}]{4,}(?!\p{L})/gu, (word) =>
      known(word) ? word : vocabulary.mended(word),
    ),
    looks: LOOKS.flatMap(([pattern, meaning]) => (pattern.test(query) ? meaning : [])).join(' '),
    hasNames: plain !== all,
  };
}
