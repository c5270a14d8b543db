// Parses a request in plain words into weighted terms.

import { isPublicTerm } from './background.ts';
import { NO_TERM } from './lexicon.ts';
import { SHORTEST_TYPO } from './spelling.ts';
import { isContentWord, stem, words } from './terms.ts';

/** Maximum number of characters of a request that are read. */
export const QUERY_LIMIT = 1000;

/** The words of a catalog. */
export interface Vocabulary {
  /** Returns the term of WORD, in any inflected form, if a tool has it; else NO_TERM. */
  termOf(word: string): number;
  /** Returns the term of FIRST and SECOND joined to one word, if a tool has it; else NO_TERM. */
  termOfJoined(first: string, second: string): number;
  /** Returns the known word that WORD is most likely a typo of, else WORD. */
  corrected(word: string): string;
}

/** A word of a request. */
export interface RequestTerm {
  word: string;
  /** The word's term; NO_TERM when no tool has it. */
  term: number;
  /** The weight of the word. A plain word that occurs once has weight 1. */
  weight: number;
  /** The weight of the word in the subject of the request, for coverage. */
  subjectWeight: number;
}

/** Weights of a word in one of NAMES, of two words joined, of a corrected typo, and of a word from PATTERNS. */
const NAME_PART = 0.25;
const JOINED = 0.3;
const CORRECTED = 0.5;
const PATTERN_WORD = 0.4;
/** Shares in the subject of the request: of a word that neither the catalog nor public tools have (it may be a name),
 *  of a word that only public tools have, and of a word from PATTERNS. */
const UNKNOWN = 0.5;
const PUBLIC_ONLY = 1.5;
const PATTERN_SUBJECT = 2;
/** Exponent for a repeated word: it weighs the square root of its count. */
const REPEATED = 0.5;

/** Names in programs: PACKAGE:NAME, FOLDER/FILE.EXTENSION, names-with-hyphens and with_underscores, *NAME*. */
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

/** Returns the words of QUERY that are no stop words, looked up in VOCABULARY, and the words that PATTERNS add. */
export function readRequest(query: string, vocabulary: Vocabulary): RequestTerm[] {
  const text = query.slice(0, QUERY_LIMIT).normalize('NFKC');
  const names = new Set<string>();
  const plain = text.replace(NAMES, (name) => {
    const parts = words(name).filter(isContentWord);
    // Words joined by hyphens can be plain English. A path, a package prefix and asterisks are in names only.
    if (/^[\w-]+$/.test(name) && parts.every((part) => vocabulary.termOf(part) !== NO_TERM)) return name;
    for (const part of parts) names.add(part);
    return ' ';
  });
  for (const word of words(plain)) names.delete(word);
  const counts = new Map<string, number>();
  const allWords = words(text);
  for (const word of allWords) if (isContentWord(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const terms = [...counts].map(([word, count]): RequestTerm => {
    if (names.has(word)) return { word, term: vocabulary.termOf(word), weight: NAME_PART, subjectWeight: 0 };
    // A capitalized word is a name, and not corrected.
    return plainWord(word, count ** REPEATED, vocabulary, text.includes(word));
  });
  const added = [
    ...joinedPairs(allWords, vocabulary),
    ...patternWords(text).map((word) => ({
      word,
      term: vocabulary.termOf(word),
      weight: PATTERN_WORD,
      subjectWeight: PATTERN_SUBJECT,
    })),
  ];
  return [...terms, ...added.filter(({ word, term }) => term !== NO_TERM && !counts.has(word))];
}

/** Returns WORD as asked for, with WEIGHT if VOCABULARY has it. If CORRECTABLE is true, corrects a typo, with less
 *  weight. */
function plainWord(word: string, weight: number, vocabulary: Vocabulary, correctable: boolean): RequestTerm {
  const term = vocabulary.termOf(word);
  if (term !== NO_TERM) return { word, term, weight, subjectWeight: 1 };
  if (isPublicTerm(stem(word))) return { word, term, weight: 0, subjectWeight: PUBLIC_ONLY };
  const canBeTypo = correctable && word.length >= SHORTEST_TYPO && !/\d/.test(word);
  const corrected = canBeTypo ? vocabulary.corrected(word) : word;
  if (corrected === word) return { word, term, weight: 0, subjectWeight: UNKNOWN };
  return {
    word: corrected,
    term: vocabulary.termOf(corrected),
    weight: weight * CORRECTED,
    subjectWeight: 1,
  };
}

/** Returns each pair of adjacent words in ALL_WORDS that VOCABULARY has as one word: stack trace as stacktrace. */
function joinedPairs(allWords: readonly string[], vocabulary: Vocabulary): RequestTerm[] {
  const found: RequestTerm[] = [];
  for (let at = 1; at < allWords.length; at++) {
    const [first, second] = [allWords[at - 1] as string, allWords[at] as string];
    if (!isContentWord(first) && !isContentWord(second)) continue;
    const term = vocabulary.termOfJoined(first, second);
    if (term !== NO_TERM) found.push({ word: first + second, term, weight: JOINED, subjectWeight: 0 });
  }
  return found;
}

/** Returns the words that PATTERNS add for TEXT, each once. */
function patternWords(text: string): string[] {
  return [
    ...new Set(PATTERNS.flatMap(([pattern, meaning]) => (pattern.test(text) ? meaning.split(' ') : []))),
  ];
}
