// Records the content of a session's answers, so that later answers can be shorter.

/** The texts that earlier answers gave to one reader, such as the client of a server. */
export class EarlierAnswers {
  /** Maps a subject, such as the name of a file, to the last text about it in an answer. */
  readonly #texts = new Map<string, string>();
  #lastAnswer = '';

  /** Returns true when TEXT is the same as the last text about SUBJECT. Otherwise records TEXT as the last text, and
   * returns false. */
  repeats(subject: string, text = ''): boolean {
    if (this.#texts.get(subject) === text) return true;
    this.#texts.set(subject, text);
    return false;
  }

  forget(subject: string): void {
    this.#texts.delete(subject);
  }

  /** Records TEXT as the last answer to the reader. */
  answered(text: string): void {
    this.#lastAnswer = text;
  }

  /** Returns true when the previous answer contained TEXT. */
  hadBefore(text: string): boolean {
    return this.#lastAnswer.includes(text);
  }
}
