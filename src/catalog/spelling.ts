// Decides which known word a slip of typing most likely means.

import { distance } from 'fastest-levenshtein';

/** A known word, and which letters it has: a bit for each, or for several. */
interface Word {
  text: string;
  letters: number;
}

/** Some words, among which that of a slip of typing is looked for. */
export class Spelling {
  readonly #words: ReadonlySet<string>;
  /** The words by their first letter, which a slip leaves; those that slips began with so far. */
  readonly #byFirst = new Map<string, Word[]>();

  constructor(words: readonly string[]) {
    this.#words = new Set(words);
  }

  has(word: string): boolean {
    return this.#words.has(word);
  }

  /** Returns the known word that WORD is likeliest a slip of typing of, or WORD. */
  mended(word: string): string {
    const letters = lettersOf(word);
    let least = word.length < 8 ? 1.5 : 2.5;
    let best = word;
    for (const { text, letters: others } of this.#beginningWith(word.charAt(0))) {
      // A change of one letter makes words differ in one of length, and in two letters.
      if (Math.abs(text.length - word.length) >= least || bitCount(letters ^ others) / 2 >= least) continue;
      const swapped = letters === others && sorted(text) === sorted(word);
      if (word.length < 6 && text.length === word.length && !swapped) continue;
      const cost = swapped ? distance(word, text) / 2 : distance(word, text);
      if (cost < least) [best, least] = [text, cost];
    }
    return best;
  }

  #beginningWith(first: string): readonly Word[] {
    const kept = this.#byFirst.get(first);
    if (kept !== undefined || first === '') return kept ?? [];
    const found = [...this.#words].filter((word) => word.charAt(0) === first);
    const words = found.map((text) => ({ text, letters: lettersOf(text) }));
    // Letters that begin no word are not kept, of which there can be any number.
    if (words.length > 0) this.#byFirst.set(first, words);
    return words;
  }
}

function sorted(word: string): string {
  return [...word].sort().join();
}

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
