// Corrects typos: finds the known word that a word most likely stands for.

import { distance } from 'fastest-levenshtein';

/** Words shorter than this are not corrected: too many known words are equally close to them. */
export const SHORTEST_TYPO = 4;

/** Known words, among which corrections are looked up. */
export class Spelling {
  /** Words and the bit masks of their letters, by first letter and length. No typo is expected in the first letter. */
  readonly #words = new Map<string, { texts: string[]; letters: number[] }>();

  constructor(words: readonly string[] = []) {
    for (const word of words) this.add(word);
  }

  /** Adds WORD, which must not be known yet. */
  add(word: string): void {
    const key = `${word.charAt(0)}${word.length}`;
    const others = this.#words.get(key) ?? { texts: [], letters: [] };
    others.texts.push(word);
    others.letters.push(lettersOf(word));
    this.#words.set(key, others);
  }

  /** Returns the known word that WORD is most likely a typo of, else WORD. */
  corrected(word: string): string {
    const letters = lettersOf(word);
    let least = word.length < 8 ? 1.5 : 2.5;
    let best = word;
    for (const lengthDifference of [0, -1, 1, -2, 2]) {
      const candidates = this.#words.get(`${word.charAt(0)}${word.length + lengthDifference}`);
      if (candidates === undefined || Math.abs(lengthDifference) >= least) continue;
      const { texts, letters: masks } = candidates;
      for (let at = 0; at < texts.length; at++) {
        const differing = letters ^ (masks[at] as number);
        // One changed letter makes the letter masks differ in two bits.
        if (bitCount(differing) >= least * 2) continue;
        const cost = costOf(word, texts[at] as string, differing === 0);
        if (cost < least) [best, least] = [texts[at] as string, cost];
      }
    }
    return best;
  }
}

/** Returns the distance of WORD from TEXT, infinite when WORD is no typo of it. ALIKE: their letter masks are equal. */
function costOf(word: string, text: string, alike: boolean): number {
  if (alike && sorted(text) === sorted(word)) return distance(word, text) / 2;
  const short = word.length < 6 && text.length === word.length;
  return short ? Number.POSITIVE_INFINITY : distance(word, text);
}

function sorted(word: string): string {
  return [...word].sort().join();
}

/** Returns the bit mask of the letters in WORD; several letters share a bit. */
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
