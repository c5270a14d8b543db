// Splits a request in plain words into weighted terms.

import { isContentWord, stem, words } from './terms.ts';

/** Only this number of characters of a request is read. */
export const QUERY_LIMIT = 1000;

interface RequestTerm {
  term: string;
  /** The weight of the term in the ranking. It is 1 for a plain word. It is less for a part of a name, for a word that
   * PATTERNS add, and for a stop word if other words of the request are known terms. */
  weight: number;
  /** The weight of the term in the subject of the request. It determines how much of the subject a tool with this term
   * covers. */
  subjectWeight: number;
}

/** Values of `weight`: of a part of a name (see NAMES), and of a word from PATTERNS. */
const NAME_PART = 0.25;
const PATTERN_WORD = 0.4;
/** Weight of a stop word. It is low, so that stop words decide only between tools that are equal otherwise. */
const STOP_WORD = 0.15;
/** Values of `subjectWeight`. UNKNOWN is for a word that occurs in no tool; such a word may be a name in the program.
 * PATTERN_SUBJECT is for a word from PATTERNS. */
const UNKNOWN = 0.5;
const PATTERN_SUBJECT = 2;

/** Matches names as they occur in programs: PACKAGE:NAME, FOLDER/FILE.EXTENSION, with-hyphens, with_underscores,
 * *NAME*. */
const NAMES = /(?<!\w)(?:[\w.*+-]{0,80}::?[\w*+-]+|(?:[\w.~-]+\/)*\w+\.[\w.]+|\w+(?:[-_]\w+)+)|\*[\w-]+\*/g;

/** Patterns that a request can match, and the words that each one adds to the request. */
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

/** Returns the different terms of QUERY, and the terms that PATTERNS add. IS_KNOWN returns true for a term that a tool
 * has. Stop words have full weight if QUERY has no other words, a low weight if another word is a known term, and no
 * weight otherwise. */
export function readRequest(query: string, isKnown: (term: string) => boolean): RequestTerm[] {
  const text = query.slice(0, QUERY_LIMIT).normalize('NFKC');
  const names = new Set<string>();
  const plain = text.replace(NAMES, (name) => {
    const parts = words(name).filter(isContentWord);
    // Words with hyphens between them can be plain English. A path, a package prefix and asterisks occur only in names.
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
