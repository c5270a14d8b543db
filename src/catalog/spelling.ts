// Decides which known word a slip of typing most likely means.

import { distance } from 'fastest-levenshtein';

/** Words that are shorter are not mended: too many others are as near. */
export const SHORTEST_SLIP = 4;

/** Some words, among which that of a slip of typing is looked for. */
export class Spelling {
  /** The words by their first letter, which a slip leaves, and by their length, each with the letters it has. */
  readonly #words = new Map<string, { texts: string[]; letters: number[] }>();

  constructor(words: readonly string[] = []) {
    for (const word of words) this.add(word);
  }

  /** Takes WORD as known. It must not be known yet. */
  add(word: string): void {
    const key = `${word.charAt(0)}${word.length}`;
    const others = this.#words.get(key) ?? { texts: [], letters: [] };
    others.texts.push(word);
    others.letters.push(lettersOf(word));
    this.#words.set(key, others);
  }

  /** Returns the known word that WORD is likeliest a slip of typing of, or WORD. */
  mended(word: string): string {
    const letters = lettersOf(word);
    let least = word.length < 8 ? 1.5 : 2.5;
    let best = word;
    for (const away of [0, -1, 1, -2, 2]) {
      const known = this.#words.get(`${word.charAt(0)}${word.length + away}`);
      if (known === undefined || Math.abs(away) >= least) continue;
      const { texts, letters: all } = known;
      for (let at = 0; at < texts.length; at++) {
        const others = letters ^ (all[at] as number);
        // A change of one letter makes words differ in two letters.
        if (bitCount(others) >= least * 2) continue;
        const cost = costOf(word, texts[at] as string, others === 0);
        if (cost < least) [best, least] = [texts[at] as string, cost];
      }
    }
    return best;
  }
}

/** Returns how far WORD is from TEXT, ALIKE when both have the same letters; infinity when it cannot be a slip of that. */
function costOf(word: string, text: string, alike: boolean): number {
  if (alike && sorted(text) === sorted(word)) return distance(word, text) / 2;
  const short = word.length < 6 && text.length === word.length;
  return short ? Number.POSITIVE_INFINITY : distance(word, text);
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
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
