// Parses a request in plain words into weighted terms.

import { isUsual } from './background.ts';
import { NO_TERM } from './lexicon.ts';
import { SHORTEST_SLIP } from './spelling.ts';
import { isTelling, stem, words } from './terms.ts';

/** Most characters of a request that are read. */
export const QUERY_LIMIT = 1000;

/** The words of a catalog. */
export interface Vocabulary {
  /** Returns the term of WORD, in any inflected form, if a tool has it; else NO_TERM. */
  termOf(word: string): number;
  /** Returns the term of FIRST and SECOND joined to one word, if a tool has it; else NO_TERM. */
  termOfJoined(first: string, second: string): number;
  /** Returns the known word that WORD is most likely a typo of, else WORD. */
  mended(word: string): string;
}

/** A word of a request. */
export interface Asked {
  word: string;
  /** The word's term; NO_TERM when no tool has it. */
  term: number;
  /** Its weight, where 1 is that of a plain word that occurs once. */
  weight: number;
  /** Its share in the subject of the request, for coverage. */
  about: number;
}

/** Weights of a word in one of NAMES, of two words joined, of a corrected typo, and of a word from LOOKS. */
const NAME_PART = 0.25;
const JOINED = 0.3;
const MENDED = 0.5;
const LOOK = 0.4;
/** Shares in the subject of the request: of a word that neither the catalog nor public tools have (it may be a name),
 *  of a word that only public tools have, and of a word from LOOKS. */
const UNKNOWN = 0.5;
const ELSEWHERE = 1.5;
const LOOK_SUBJECT = 2;
/** Exponent for a repeated word: it weighs the square root of its count. */
const REPEATED = 0.5;

/** Names in programs: PACKAGE:NAME, FOLDER/FILE.EXTENSION, names-with-hyphens and with_underscores, *NAME*. */
const NAMES = /(?<!\w)(?:[\w.*+-]{0,80}::?[\w*+-]+|(?:[\w.~-]+\/)*\w+\.[\w.]+|\w+(?:[-_]\w+)+)|\*[\w-]+\*/g;

/** Patterns in a request, and the words that each adds to it. */
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

/** Returns the words of QUERY that are no stop words, looked up in VOCABULARY, and the words that LOOKS add. */
export function readRequest(query: string, vocabulary: Vocabulary): Asked[] {
  const text = query.slice(0, QUERY_LIMIT).normalize('NFKC');
  const names = new Set<string>();
  const plain = text.replace(NAMES, (name) => {
    const parts = words(name).filter(isTelling);
    // Words joined by hyphens can be plain English. A path, a package prefix and asterisks are in names only.
    if (/^[\w-]+$/.test(name) && parts.every((part) => vocabulary.termOf(part) !== NO_TERM)) return name;
    for (const part of parts) names.add(part);
    return ' ';
  });
  for (const word of words(plain)) names.delete(word);
  const times = new Map<string, number>();
  const all = words(text);
  for (const word of all) if (isTelling(word)) times.set(word, (times.get(word) ?? 0) + 1);
  const asked = [...times].map(([word, count]): Asked => {
    if (names.has(word)) return { word, term: vocabulary.termOf(word), weight: NAME_PART, about: 0 };
    // A capitalized word is a name, and not corrected.
    return plainWord(word, count ** REPEATED, vocabulary, text.includes(word));
  });
  const added = [
    ...joined(all, vocabulary),
    ...looks(text).map((word) => ({
      word,
      term: vocabulary.termOf(word),
      weight: LOOK,
      about: LOOK_SUBJECT,
    })),
  ];
  return [...asked, ...added.filter(({ word, term }) => term !== NO_TERM && !times.has(word))];
}

/** Returns WORD as asked for, with WEIGHT if VOCABULARY has it. If CAN is true, corrects a typo, with less weight. */
function plainWord(word: string, weight: number, vocabulary: Vocabulary, can: boolean): Asked {
  const term = vocabulary.termOf(word);
  if (term !== NO_TERM) return { word, term, weight, about: 1 };
  if (isUsual(stem(word))) return { word, term, weight: 0, about: ELSEWHERE };
  const isSlip = can && word.length >= SHORTEST_SLIP && !/\d/.test(word);
  const mended = isSlip ? vocabulary.mended(word) : word;
  if (mended === word) return { word, term, weight: 0, about: UNKNOWN };
  return { word: mended, term: vocabulary.termOf(mended), weight: weight * MENDED, about: 1 };
}

/** Returns each pair of adjacent words in ALL that VOCABULARY has as one word: stack trace as stacktrace. */
function joined(all: readonly string[], vocabulary: Vocabulary): Asked[] {
  const found: Asked[] = [];
  for (let at = 1; at < all.length; at++) {
    const [first, second] = [all[at - 1] as string, all[at] as string];
    if (!isTelling(first) && !isTelling(second)) continue;
    const term = vocabulary.termOfJoined(first, second);
    if (term !== NO_TERM) found.push({ word: first + second, term, weight: JOINED, about: 0 });
  }
  return found;
}

/** Returns the words that LOOKS add for TEXT, each once. */
function looks(text: string): string[] {
  return [...new Set(LOOKS.flatMap(([pattern, meaning]) => (pattern.test(text) ? meaning.split(' ') : [])))];
}
