// Numbers the terms (stems) in the texts of tools, and maps each word to its term.

import { publicShare } from './background.ts';
import { Spelling } from './spelling.ts';
import { isContentWord, stem, words } from './terms.ts';

/** The term of stop words and of unknown words. */
export const NO_TERM = -1;

/** A separator that no word contains. */
const SEPARATOR = '\n';

/** The words and terms of the texts that it has learned. */
export class Lexicon {
  /** Term numbers by stem. */
  readonly #terms = new Map<string, number>();
  /** Term numbers by word as written. */
  readonly #words = new Map<string, number>();
  /** By term, the share of public tools that have it. */
  readonly #shares: number[] = [];
  readonly #spelling = new Spelling();
  /** All words in one string, built when first needed: searching it is far faster than searching many short strings. */
  #joined: string | undefined;

  /** Returns the terms of the words of TEXT, one for each word that is no stop word. Adds new words. */
  learn(text: string): number[] {
    return words(text)
      .map((word) => this.#words.get(word) ?? this.#learnWord(word))
      .filter((term) => term !== NO_TERM);
  }

  #learnWord(word: string): number {
    const text = isContentWord(word) ? stem(word) : undefined;
    const term = text === undefined ? NO_TERM : (this.#terms.get(text) ?? this.#terms.size);
    if (text !== undefined) {
      this.#terms.set(text, term);
      this.#shares[term] ??= publicShare(text);
      // A number is never a typo of another number.
      if (!/\d/.test(word)) this.#spelling.add(word);
    }
    this.#words.set(word, term);
    this.#joined = undefined;
    return term;
  }

  /** Returns the term of WORD in any inflected form. WORD may itself be a stem, as cons is. */
  termOf(word: string): number {
    return this.#words.get(word) ?? this.#terms.get(stem(word)) ?? this.#terms.get(word) ?? NO_TERM;
  }

  /** Returns the term of WORD if a text has exactly this form, else NO_TERM. */
  termOfExactForm(word: string): number {
    return this.#words.get(word) ?? NO_TERM;
  }

  /** Returns the term of FIRST and SECOND joined to one word, else NO_TERM. Only SECOND is stemmed: stemming all joined
   *  pairs, which hardly ever are words, is slow. */
  termOfJoined(first: string, second: string): number {
    const written = this.#words.get(first + second);
    if (written !== undefined) return written;
    const stemmed = first + stem(second);
    return this.#words.get(stemmed) ?? this.#terms.get(stemmed) ?? NO_TERM;
  }

  /** Returns the terms of the words that contain TEXT, a run of letters and numbers in a query. The word must end with
   *  TEXT if that is the FIRST run of several, and must begin with it if it is the LAST of several. */
  termsWith(text: string, { first, last }: { first: boolean; last: boolean }): Set<number> {
    const pattern = `${last && !first ? SEPARATOR : ''}${text}${first && !last ? SEPARATOR : ''}`;
    const joined = this.#allWords();
    const terms = new Set<number>();
    for (let at = joined.indexOf(pattern); at !== -1; at = joined.indexOf(pattern, at)) {
      const start = joined.lastIndexOf(SEPARATOR, last && !first ? at : at - 1) + 1;
      const end = joined.indexOf(SEPARATOR, start);
      const term = this.termOfExactForm(joined.slice(start, end));
      if (term !== NO_TERM) terms.add(term);
      at = end;
    }
    return terms;
  }

  /** Returns all words in one string, with SEPARATOR before and after each word. */
  #allWords(): string {
    this.#joined ??= `${SEPARATOR}${[...this.#words.keys()].join(SEPARATOR)}${SEPARATOR}`;
    return this.#joined;
  }

  /** Returns the share of public tools that have TERM. */
  shareOf(term: number): number {
    return this.#shares[term] ?? 0;
  }

  /** Returns the known word that WORD is most likely a typo of, else WORD. */
  corrected(word: string): string {
    return this.#spelling.corrected(word);
  }
}
