// Remembers what the answers of a session have said, so that later answers can be shorter.

/** A record of the answers to one reader, such as the client of a server. */
export class Told {
  /** The last text about each subject. */
  readonly #texts = new Map<string, string>();
  #lastAnswer = '';

  /** Returns true when TEXT is the same as the last text about SUBJECT. Otherwise records it as the last
   *  one. */
  repeats(subject: string, text = ''): boolean {
    if (this.#texts.get(subject) === text) return true;
    this.#texts.set(subject, text);
    return false;
  }

  /** Forgets the last text about SUBJECT. */
  forget(subject: string): void {
    this.#texts.delete(subject);
  }

  /** Records TEXT as the last answer to the reader. */
  answered(text: string): void {
    this.#lastAnswer = text;
  }

  /** True when the previous answer contains TEXT. */
  hadBefore(text: string): boolean {
    return this.#lastAnswer.includes(text);
  }
}
