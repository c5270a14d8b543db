// Remembers what the answers of a session have said, so that a later answer says it in fewer words.

/** What one reader, such as the client of a server, was told. */
export class Told {
  /** By subject: the text that the reader was told last. */
  readonly #texts = new Map<string, string>();
  #lastAnswer = '';

  /** Records TEXT as told about SUBJECT. Returns true if the text told before about SUBJECT is the same. */
  repeats(subject: string, text = ''): boolean {
    if (this.#texts.get(subject) === text) return true;
    this.#texts.set(subject, text);
    return false;
  }

  /** Forgets what was told about SUBJECT. */
  forget(subject: string): void {
    this.#texts.delete(subject);
  }

  /** Records TEXT, an answer that the reader gets. */
  answered(text: string): void {
    this.#lastAnswer = text;
  }

  /** True when the answer before this one has TEXT. */
  hadBefore(text: string): boolean {
    return this.#lastAnswer.includes(text);
  }
}
