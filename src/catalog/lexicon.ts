// Decides which number stands for all words of a stem in the texts of some tools, and keeps these words.

import { usualShare } from './background.ts';
import { Spelling } from './spelling.ts';
import { isTelling, stem, words } from './terms.ts';

/** A word that tells nothing, and one that nothing has, has no term. */
export const NO_TERM = -1;

/** What no word has in it. */
const BETWEEN = '\n';

/** The words of some texts. */
export class Lexicon {
  /** The number of each term. */
  readonly #terms = new Map<string, number>();
  /** The terms of words as they are written. */
  readonly #words = new Map<string, number>();
  /** Which share of the public tools has each term. */
  #shares: number[] = [];
  #spelling = new Spelling();
  /** All words, once a search has needed them: it is as fast to look through one text as it is slow through many. */
  #joined: string | undefined;

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
    this.#joined = undefined;
    return term;
  }

  /** Returns the term of WORD, which can be another form of what the texts have. It can be a stem as it is: cons. */
  termOf(word: string): number {
    return this.#words.get(word) ?? this.#terms.get(stem(word)) ?? this.#terms.get(word) ?? NO_TERM;
  }

  /** Returns the term of WORD when a text has it as it is written. */
  termOfWritten(word: string): number {
    return this.#words.get(word) ?? NO_TERM;
  }

  /** Returns the term of the words FIRST and SECOND as one. Its stem is looked for as that of SECOND, since to stem what is
   *  hardly ever a word is slow. */
  termOfJoined(first: string, second: string): number {
    const written = this.#words.get(first + second);
    if (written !== undefined) return written;
    const stemmed = first + stem(second);
    return this.#words.get(stemmed) ?? this.#terms.get(stemmed) ?? NO_TERM;
  }

  /** Returns the terms of the words that have TEXT as a part. It ends them when it is only FIRST of what is looked for, and
   *  begins them when it is only LAST. */
  termsWith(text: string, { first, last }: { first: boolean; last: boolean }): Set<number> {
    const pattern = `${last && !first ? BETWEEN : ''}${text}${first && !last ? BETWEEN : ''}`;
    const all = this.#allWords();
    const terms = new Set<number>();
    for (let at = all.indexOf(pattern); at !== -1; at = all.indexOf(pattern, at)) {
      const start = all.lastIndexOf(BETWEEN, last && !first ? at : at - 1) + 1;
      const end = all.indexOf(BETWEEN, start);
      const term = this.termOfWritten(all.slice(start, end));
      if (term !== NO_TERM) terms.add(term);
      at = end;
    }
    return terms;
  }

  /** Returns all words with BETWEEN around each. */
  #allWords(): string {
    this.#joined ??= `${BETWEEN}${[...this.#words.keys()].join(BETWEEN)}${BETWEEN}`;
    return this.#joined;
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
    this.#joined = undefined;
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
