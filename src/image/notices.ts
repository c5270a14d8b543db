// Decides how much is kept of what the next answer is to tell besides its own text, when no answer comes for long.

/** Notices that are kept; the oldest make room. */
const LIMIT = 20;
/** Characters of each; it is bounded again where it is shown. */
const LENGTH_LIMIT = 50_000;

export class Notices {
  #texts: string[] = [];
  #forgotten = 0;

  /** Keeps TEXT until it is taken. */
  add(text: string): void {
    this.#texts.push(
      text.length > LENGTH_LIMIT ? `${text.slice(0, LENGTH_LIMIT)}\n[... cut here ...]` : text,
    );
    if (this.#texts.length > LIMIT) {
      this.#texts.shift();
      this.#forgotten += 1;
    }
  }

  /** Returns what was kept, once, the oldest first. */
  take(): string[] {
    const missing =
      this.#forgotten === 0
        ? []
        : [`${this.#forgotten} earlier notices were left out: no answer could tell them.`];
    this.#forgotten = 0;
    return [...missing, ...this.#texts.splice(0)];
  }
}
