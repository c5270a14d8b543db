// Decides which known word a slip of typing most likely means.

import { distance } from 'fastest-levenshtein';

/** Words that are shorter are not mended: too many others are as near. */
export const SHORTEST_SLIP = 4;

/** Some words, among which that of a slip of typing is looked for. */
export class Spelling {
  /** The words by their first letter, which a slip leaves, and by their length. */
  readonly #words = new Map<string, string[]>();

  constructor(words: readonly string[] = []) {
    for (const word of words) this.add(word);
  }

  /** Takes WORD as known. It must not be known yet. */
  add(word: string): void {
    const key = `${word.charAt(0)}${word.length}`;
    const others = this.#words.get(key);
    if (others === undefined) this.#words.set(key, [word]);
    else others.push(word);
  }

  /** Returns the known word that WORD is likeliest a slip of typing of, or WORD. */
  mended(word: string): string {
    const letters = lettersOf(word);
    let least = word.length < 8 ? 1.5 : 2.5;
    let best = word;
    for (const length of [0, -1, 1, -2, 2].map((change) => word.length + change)) {
      for (const text of this.#words.get(`${word.charAt(0)}${length}`) ?? []) {
        const cost = this.#cost(word, text, letters, least);
        if (cost < least) [best, least] = [text, cost];
      }
    }
    return best;
  }

  /** Returns how far WORD, with LETTERS, is from TEXT; infinity when that cannot be below LEAST. */
  #cost(word: string, text: string, letters: number, least: number): number {
    const others = lettersOf(text);
    // A change of one letter makes words differ in one of length, and in two letters.
    const away = Math.max(Math.abs(text.length - word.length), bitCount(letters ^ others) / 2);
    if (away >= least) return Number.POSITIVE_INFINITY;
    const swapped = letters === others && sorted(text) === sorted(word);
    if (swapped) return distance(word, text) / 2;
    const short = word.length < 6 && text.length === word.length;
    return short ? Number.POSITIVE_INFINITY : distance(word, text);
  }
}

function sorted(word: string): string {
  return [...word].sort().join();
}

/** Returns which letters WORD has: a bit for each, or for several. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count++;
  return count;
}
