// Parses a request in plain words into weighted terms.

import { isContentWord, stem, words } from './terms.ts';

/** Maximum number of characters to read of a request. */
export const QUERY_LIMIT = 1000;

interface RequestTerm {
  term: string;
  /** The weight of the term in the ranking. It is 1 for a plain word, and less for a part of a name, a word
   *  from PATTERNS, or a stop word among known terms. */
  weight: number;
  /** The weight of the term in the subject of the request, for coverage. */
  subjectWeight: number;
}

/** Weight of a word in a name (see NAMES), and of a word from PATTERNS. */
const NAME_PART = 0.25;
const PATTERN_WORD = 0.4;
/** Weight of a stop word. It is so low that it decides only between tools with the same other words. */
const STOP_WORD = 0.15;
/** Weight, in the request's subject, of a word that no tool has, perhaps a name (UNKNOWN), and of a word from
 *  PATTERNS. */
const UNKNOWN = 0.5;
const PATTERN_SUBJECT = 2;

/** Matches names in programs: PACKAGE:NAME, FOLDER/FILE.EXTENSION, with-hyphens, with_underscores, *NAME*. */
const NAMES = /(?<!\w)(?:[\w.*+-]{0,80}::?[\w*+-]+|(?:[\w.~-]+\/)*\w+\.[\w.]+|\w+(?:[-_]\w+)+)|\*[\w-]+\*/g;

/** Patterns in a request, and the words that each adds to it. */
const PATTERNS: readonly [RegExp, string][] = [
  [/\S\.asd\b/i, 'asdf'],
  [/\S\.(?:lisp|lsp|cl)\b/i, 'source file'],
  [/\w\.(?:md|txt|json|ya?ml|toml|org|csv|html)\b/i, 'text file'],
  [/\([^\s()]+ .*\)/, 'evaluate expression'],
  [/\w::?[\w*]/, 'function'],
  [/(?<![\w.*+/"-])[a-z]\w*(?:-\w+)+(?![\w.*+/-])/, 'function'],
  [/\*\w[\w-]*\*/, 'value variable'],
  [/\+\w[\w-]*\+/, 'constant'],
];

/** Returns the distinct terms of QUERY, and those that PATTERNS add. IS_KNOWN is true for a term that a tool
 *  has. Stop words alone count in full, among known terms a little, else not at all (C32). */
export function readRequest(query: string, isKnown: (term: string) => boolean): RequestTerm[] {
  const text = query.slice(0, QUERY_LIMIT).normalize('NFKC');
  const names = new Set<string>();
  const plain = text.replace(NAMES, (name) => {
    const parts = words(name).filter(isContentWord);
    // Words joined by hyphens can be plain English. A path, a package prefix or asterisks always form a name.
    if (/^[\w-]+$/.test(name) && parts.every((part) => isKnown(stem(part)))) return name;
    for (const part of parts) names.add(part);
    return ' ';
  });
  for (const word of words(plain)) names.delete(word);
  const terms = new Map<string, RequestTerm>();
  const add = (word: string, weight: number, subjectWeight: number) => {
    const term = stem(word);
    const { weight: most = 0, subjectWeight: sum = 0 } = terms.get(term) ?? {};
    terms.set(term, { term, weight: Math.max(most, weight), subjectWeight: sum + subjectWeight });
  };
  const allWords = words(text);
  const contentWords = allWords.filter(isContentWord);
  for (const word of new Set(contentWords)) {
    if (names.has(word)) add(word, NAME_PART, 0);
    else add(word, 1, isKnown(stem(word)) ? 1 : UNKNOWN);
  }
  for (const word of patternWords(text)) {
    if (isKnown(stem(word)) && !contentWords.includes(word)) add(word, PATTERN_WORD, PATTERN_SUBJECT);
  }
  if (terms.size === 0) {
    for (const word of allWords) add(word, 1, 1);
  } else if ([...terms.keys()].some(isKnown)) {
    for (const word of allWords) if (!isContentWord(word)) add(word, STOP_WORD, 0);
  }
  return [...terms.values()];
}

function patternWords(text: string): Set<string> {
  return new Set(PATTERNS.flatMap(([pattern, meaning]) => (pattern.test(text) ? meaning.split(' ') : [])));
}
