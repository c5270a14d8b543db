// Decides what a request in plain words asks for: which of its words count how much.

import { isUsual } from './background.ts';
import { NO_TERM } from './lexicon.ts';
import { SHORTEST_SLIP } from './spelling.ts';
import { isTelling, stem, words } from './terms.ts';

/** Characters of a request that are read. */
export const QUERY_LIMIT = 1000;

/** What a catalog knows of words. */
export interface Vocabulary {
  /** Returns the term of WORD when a tool has it, or another form of it; else NO_TERM. */
  termOf(word: string): number;
  /** Returns the same for the words FIRST and SECOND as one. */
  termOfJoined(first: string, second: string): number;
  /** Returns the known word that WORD is likeliest a slip of typing of, or WORD. */
  mended(word: string): string;
}

/** A word of a request. */
export interface Asked {
  word: string;
  /** NO_TERM when no tool has it. */
  term: number;
  /** What it counts beside a plain word that stands once. */
  weight: number;
  /** Which part of it counts in what the request is about. */
  about: number;
}

/** What a word counts that stands in a name of the user's own, two words as one, a mended slip, and a look. */
const NAME_PART = 0.25;
const JOINED = 0.3;
const MENDED = 0.5;
const LOOK = 0.4;
/** What a word is of a request's subject that neither the catalog nor the public tools have: it can be a name. What one is
 *  that only public tools have, and what a look is. */
const UNKNOWN = 0.5;
const ELSEWHERE = 1.5;
const LOOK_SUBJECT = 2;
/** How much more a word counts that is repeated: the square root of how often it stands. */
const REPEATED = 0.5;

/** Names as programs have them: PACKAGE:NAME, FOLDER/FILE.EXTENSION, names-with-hyphens and with_underscores, *NAME*. */
const NAMES = /(?<!\w)(?:[\w.*+-]{0,80}::?[\w*+-]+|(?:[\w.~-]+\/)*\w+\.[\w.]+|\w+(?:[-_]\w+)+)|\*[\w-]+\*/g;

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

/** Returns the telling words of QUERY as VOCABULARY knows them, and words for what it looks like. */
export function readRequest(query: string, vocabulary: Vocabulary): Asked[] {
  const text = query.slice(0, QUERY_LIMIT).normalize('NFKC');
  const names = new Set<string>();
  const plain = text.replace(NAMES, (name) => {
    const parts = words(name).filter(isTelling);
    // Words joined by hyphens can be plain English; a path, a prefix and asterisks are of names alone.
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
    // A capital begins a name, which is no slip.
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

/** Returns what WORD counts, which weighs WEIGHT when VOCABULARY has it; a slip is mended where it CAN be one. */
function plainWord(word: string, weight: number, vocabulary: Vocabulary, can: boolean): Asked {
  const term = vocabulary.termOf(word);
  if (term !== NO_TERM) return { word, term, weight, about: 1 };
  if (isUsual(stem(word))) return { word, term, weight: 0, about: ELSEWHERE };
  const isSlip = can && word.length >= SHORTEST_SLIP && !/\d/.test(word);
  const mended = isSlip ? vocabulary.mended(word) : word;
  if (mended === word) return { word, term, weight: 0, about: UNKNOWN };
  return { word: mended, term: vocabulary.termOf(mended), weight: weight * MENDED, about: 1 };
}

/** Returns each two words of ALL that follow each other and are one word of VOCABULARY: stack and trace. */
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

/** Returns the words for what TEXT looks like, each once. */
function looks(text: string): string[] {
  return [...new Set(LOOKS.flatMap(([pattern, meaning]) => (pattern.test(text) ? meaning.split(' ') : [])))];
}
