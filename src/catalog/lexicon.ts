// Decides which number stands for all words of a stem in the texts of some tools, and keeps these words.

import { usualShare } from './background.ts';
import { Spelling } from './spelling.ts';
import { isTelling, stem, words } from './terms.ts';

/** A word that tells nothing, and one that nothing has, has no term. */
export const NO_TERM = -1;

export class Lexicon {
  /** The number of each term. */
  readonly #terms = new Map<string, number>();
  /** The terms of words as they are written. */
  readonly #words = new Map<string, number>();
  /** Which share of the public tools has each term. */
  #shares: number[] = [];
  #spelling = new Spelling();

  /** Returns the terms of the words of TEXT, one for each that tells something; those that are new are learned. */
  learn(text: string): number[] {
    return words(text)
      .map((word) => this.#words.get(word) ?? this.#learnWord(word))
      .filter((term) => term !== NO_TERM);
  }

  #learnWord(word: string): number {
    const text = isTelling(word) ? stem(word) : undefined;
    const term = text === undefined ? NO_TERM : (this.#terms.get(text) ?? this.#terms.size);
    if (text !== undefined) {
      this.#terms.set(text, term);
      this.#shares[term] ??= usualShare(text);
      // A number is no slip of another.
      if (!/\d/.test(word)) this.#spelling.add(word);
    }
    this.#words.set(word, term);
    return term;
  }

  /** Returns the term of WORD, which can be another form of what the texts have. */
  termOf(word: string): number {
    return this.#words.get(word) ?? this.#terms.get(stem(word)) ?? NO_TERM;
  }

  /** Returns the term of WORD when a text has it as it is written. */
  termOfWritten(word: string): number {
    return this.#words.get(word) ?? NO_TERM;
  }

  /** Returns the terms of the words that have TEXT as a part. It ends them when it is only FIRST of what is looked for, and
   *  begins them when it is only LAST. */
  termsWith(text: string, { first, last }: { first: boolean; last: boolean }): Set<number> {
    const terms = new Set<number>();
    for (const [word, term] of this.#words) {
      if (term === NO_TERM || word.length < text.length) continue;
      if ((last || word.endsWith(text)) && (first ? word.includes(text) : word.startsWith(text)))
        terms.add(term);
    }
    return terms;
  }

  /** Returns which share of the public tools has TERM. */
  shareOf(term: number): number {
    return this.#shares[term] ?? 0;
  }

  /** Returns the known word that WORD is likeliest a slip of typing of, or WORD. */
  mended(word: string): string {
    return this.#spelling.mended(word);
  }

  /** Gives each term the number that PLACES has for it; those with a negative one are forgotten. */
  renumber(places: Int32Array): void {
    this.#shares = this.#shares.filter((_, term) => (places[term] ?? NO_TERM) >= 0);
    this.#spelling = new Spelling();
    for (const map of [this.#terms, this.#words]) {
      for (const [text, term] of map) {
        const place = places[term] ?? NO_TERM;
        if (place < 0) map.delete(text);
        else map.set(text, place);
      }
    }
    for (const word of this.#words.keys()) if (!/\d/.test(word)) this.#spelling.add(word);
  }
}
