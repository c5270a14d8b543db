// Decides which tools a request in plain words means, the likeliest first.

import { distance } from 'fastest-levenshtein';
import MiniSearch, { type SearchResult } from 'minisearch';
import { stemmer } from 'stemmer';
import type { ToolMetadata } from './metadata.ts';

/** Words that say nothing about a tool: grammar, and what every request says. */
const STOP_WORDS = new Set(
  'a about above all also am an and any are as at be been before being both but by can could did do does doing each for from had has have having he her here how i if in into is it its itself just like me my myself no not now of off on once only or other our out own please same should so some such than that the their them then there these they this those through to too under until very want was we were what when where which while who whom why will with would you your'.split(
    ' ',
  ),
);

/** Words of requests about anything. Beside words that no tool has, they do not make a request one about Lisp. */
const COMMON_WORDS =
  'add book call change check create file fill find form get give go image list look make name near need new open package page place play post print put read return search see send set show system take tell text turn type use write'.split(
    ' ',
  );
const COMMON_TERMS = new Set(COMMON_WORDS.map(stemmer));
const COMMON_PART = 0.3;

/** Fields of a tool, and how much a word in one tells. */
const WEIGHTS = { name: 3, keywords: 2, short: 1.5, full: 0.5, parameters: 0.7, parameterTexts: 0.3 };
const WEAK_FIELDS = ['full', 'parameters', 'parameterTexts'];
const WEAK_PART = 0.4;

/** How much of a request a tool must be about, from 0 to 1, to be an answer. */
const LEAST_COVERAGE = 0.22;
/** Tools below this part of the best score are left out. */
const LEAST_PART = 0.25;

/** Characters of a request that are read. */
export const QUERY_LIMIT = 1000;

interface Index {
  tools: readonly ToolMetadata[];
  search: MiniSearch;
  /** All words of the tools' texts. */
  vocabulary: ReadonlySet<string>;
}

let index: Index | undefined;

/** Returns those of TOOLS that have to do with QUERY, the likeliest first (S1.15). */
export function rankTools(query: string, tools: readonly ToolMetadata[]): ToolMetadata[] {
  if (index === undefined || !sameTools(index.tools, tools)) index = makeIndex(tools);
  const request = readRequest(query.slice(0, QUERY_LIMIT), index.vocabulary);
  const found = index.search.search(request.words.join(' '));
  const terms = new Set(request.words.map(toTerm).filter((term) => term !== null));
  const least = request.hasNames ? LEAST_COVERAGE / 2 : LEAST_COVERAGE;
  const covering = found.filter((result) => coverage(terms, result) >= least);
  const best = covering[0]?.score ?? 0;
  return covering.filter(({ score }) => score >= LEAST_PART * best).flatMap(({ id }) => tools[id] ?? []);
}

function sameTools(one: readonly ToolMetadata[], other: readonly ToolMetadata[]): boolean {
  return one.length === other.length && one.every((tool, at) => tool === other[at]);
}

function makeIndex(tools: readonly ToolMetadata[]): Index {
  const texts = tools.map(fieldsOf);
  const search = new MiniSearch({
    fields: Object.keys(WEIGHTS),
    tokenize: words,
    processTerm: toTerm,
    searchOptions: { boost: WEIGHTS },
  });
  search.addAll(texts.map((fields, id) => ({ id, ...fields })));
  const vocabulary = new Set(texts.flatMap((fields) => Object.values(fields).flatMap(words)));
  return { tools, search, vocabulary };
}

function fieldsOf(tool: ToolMetadata): Record<keyof typeof WEIGHTS, string> {
  const parameters = Object.entries(tool.inputSchema.properties);
  return {
    name: tool.name,
    keywords: tool.keywords.join(' '),
    short: tool.shortDescription,
    full: tool.fullDescription,
    parameters: parameters.map(([name]) => name).join(' '),
    parameterTexts: parameters.map(([, { description }]) => String(description)).join(' '),
  };
}

function toTerm(word: string): string | null {
  return STOP_WORDS.has(word) ? null : stemmer(word);
}

/** Returns how much of the terms ASKED for RESULT is about, from 0 to 1. */
function coverage(asked: ReadonlySet<string>, { match }: SearchResult): number {
  const weight = (term: string) => (COMMON_TERMS.has(term) ? COMMON_PART : 1);
  let all = 0;
  let covered = 0;
  for (const term of asked) {
    const fields = Object.hasOwn(match, term) ? (match[term] ?? []) : [];
    all += weight(term);
    if (fields.length === 0) continue;
    covered += weight(term) * (fields.every((field) => WEAK_FIELDS.includes(field)) ? WEAK_PART : 1);
  }
  return covered / all;
}

/** Words, and the keys of editors such as C-c and M-. */
const WORD = /(?<![\w-])[cms]-(?:[cms]-)?(?:[a-z0-9](?![\w-])|[^\s\w,;:])|[\p{L}\p{N}]+/gu;

/** Returns the words of TEXT in lower case; names in camelCase and snake_case are several. */
function words(text: string): string[] {
  return (
    text
      .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
      .match(WORD) ?? []
  );
}

/** What a request is about in which something looks like this. */
const LOOKS: readonly [RegExp, string][] = [
  [/\S\.asd\b/i, 'asdf'],
  [/\S\.(?:lisp|lsp|cl)\b/i, 'source file'],
  [/\([^\s()]+ .*\)/, 'evaluate expression'],
  [/\w::?[\w*]/, 'symbol'],
  [/\*\w[\w-]*\*/, 'value variable'],
];

/** Names as only Lisp has them, or a user's own: PACKAGE:NAME, *NAME*, FILE.EXTENSION, NAME-WITH-HYPHENS. */
const NAMES = /[\w.*+-]{0,80}::?[\w*+-]+|\*[\w-]+\*|\w+\.[\w.]+|\w+(?:-\w+)+/g;

interface Request {
  words: string[];
  /** Whether it has names that are in no tool's text. */
  hasNames: boolean;
}

/** Returns what QUERY says: its words without the names of the user's own, of which parts may say something
 *  else, and with slips of typing mended to words of VOCABULARY. */
function readRequest(query: string, vocabulary: ReadonlySet<string>): Request {
  const known = (word: string) => vocabulary.has(word) || STOP_WORDS.has(word);
  const plain = query.replace(NAMES, (name) => (words(name).every(known) ? name : ' '));
  const looks = LOOKS.filter(([pattern]) => pattern.test(query)).map(([, meaning]) => meaning);
  return {
    words: words([plain, ...looks].join(' ')).map((word) => (known(word) ? word : mended(word, vocabulary))),
    hasNames: plain !== query,
  };
}

/** Returns the word of VOCABULARY that WORD is a slip of typing of, or WORD. */
function mended(word: string, vocabulary: ReadonlySet<string>): string {
  if (word.length < 4) return word;
  const slips = word.length < 8 ? 1 : 2;
  const letters = [...word].sort().join();
  for (const candidate of vocabulary) {
    if (candidate[0] !== word[0] || Math.abs(candidate.length - word.length) > slips) continue;
    const far = distance(word, candidate);
    if (far <= slips || (far === 2 && letters === [...candidate].sort().join())) return candidate;
  }
  return word;
}
