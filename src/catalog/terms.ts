// Splits a text into words, and names also into their parts. Reduces each word to its stem, the term.

import { stemmer } from 'stemmer';
import STOP from './stop-words.json' with { type: 'json' };

/** Words that a search ignores: function words, and words that occur in all requests. */
const STOP_WORDS: ReadonlySet<string> = new Set(STOP.words.split(' '));

interface Patterns {
  /** Matches a run of characters of a script that does not separate words by spaces, or of Hangul, where particles are
   * attached to words. */
  unspaced: RegExp;
  run: RegExp;
}

let cachedPatterns: Patterns | undefined;

/** Returns the patterns with which `words` splits a text. They use Unicode properties, which are slow to compile, so
 * they are made in the first search. */
function patterns(): Patterns {
  if (cachedPatterns !== undefined) return cachedPatterns;
  const unspaced =
    /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]+/u;
  const run = new RegExp(`${unspaced.source}|(?:(?!${unspaced.source})[\\p{L}\\p{N}\\p{M}])+`, 'gu');
  cachedPatterns = { unspaced, run };
  return cachedPatterns;
}

/** Returns the words of TEXT, in lower case. Adds the parts of each camelCase name, and each pair of adjacent
 * characters in a script without spaces. */
export function words(text: string): string[] {
  const { unspaced, run: anyRun } = patterns();
  return (text.normalize('NFKC').match(anyRun) ?? []).flatMap((run) => {
    if (unspaced.test(run)) return [run, ...[...run].slice(1).map((next, at) => [...run][at] + next)];
    const parts = run.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
    return (parts.length > 1 ? [run, ...parts] : parts).map((word) => word.toLowerCase());
  });
}

/** Returns true when WORD, in lower case, is neither a stop word nor a single letter. */
export function isContentWord(word: string): boolean {
  return (word.length > 1 || /[^a-z]/.test(word)) && !STOP_WORDS.has(word);
}

/** A cache that maps words to stems, because texts and requests repeat words. */
const STEMS = new Map<string, string>();
const STEM_LIMIT = 10_000;

/** Returns the stem of WORD, which is in lower case. The inflected forms of a word have the same stem. */
export function stem(word: string): string {
  const cached = STEMS.get(word);
  if (cached !== undefined) return cached;
  if (STEMS.size >= STEM_LIMIT) STEMS.clear();
  const found = stemmer(word);
  STEMS.set(word, found);
  return found;
}

/** Returns the terms of TEXT: the stem of each word that is not a stop word. */
export function termsOf(text: string): string[] {
  return words(text).filter(isContentWord).map(stem);
}
