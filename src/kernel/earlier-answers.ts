// Records the content of a session's answers, so that later answers can be shorter.

/** The content of earlier answers to one reader, such as the client of a server. */
export class EarlierAnswers {
  /** By subject: the last text about it. */
  readonly #texts = new Map<string, string>();
  #lastAnswer = '';

  /** Returns true when TEXT is the same as the last text about SUBJECT. Otherwise records it as the last
   *  one. */
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

  /** True when the previous answer contains TEXT. */
  hadBefore(text: string): boolean {
    return this.#lastAnswer.includes(text);
  }
}
