// Decides how long a question to a human stays open, and that it is answered at most once.

import { CallError } from '../errors.ts';
import type { Question } from './approval.ts';

/** Questions that are open at once; the oldest make room. */
const LIMIT = 100;

/** What is kept of a question until it is answered: not its arguments, which may be large. */
export type AskedQuestion = Omit<Question, 'args'>;

interface OpenQuestion {
  question: AskedQuestion;
  /** What it was asked for: the answer must be for the same. */
  subject: string;
  until: number;
}

export class OpenQuestions {
  readonly #open = new Map<string, OpenQuestion>();
  /** Seconds that a human has to answer. */
  readonly seconds: number;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  /** Notes QUESTION, asked for SUBJECT, under ID, which nobody can guess. */
  add(id: string, question: Question, subject: string): void {
    this.#forget();
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= LIMIT) this.#open.delete(oldest);
    const { tool, preview } = question;
    this.#open.set(id, { question: { tool, preview }, subject, until: Date.now() + this.seconds * 1000 });
  }

  /** Returns the question of ID, which is closed by that. Throws a CallError when there is none for SUBJECT. */
  take(id: string, subject: string): AskedQuestion {
    this.#forget();
    const found = this.#open.get(id);
    this.#open.delete(id);
    if (found === undefined) {
      throw new CallError(
        'This approval was used already, expired, or was asked for before the server started, so nothing was done. Call the tool again to ask anew.',
      );
    }
    if (found.subject !== subject) {
      throw new CallError(
        'This approval was for another call, so nothing was done. Call the tool again to ask for this one.',
      );
    }
    return found.question;
  }

  /** Returns what the questions about PLACE that nobody has answered yet show, the newest last. */
  about(place: string): string[] {
    this.#forget();
    const previews = [...this.#open.values()].map(({ question }) => question.preview);
    return previews.filter((preview) => preview.place === place).map(({ text }) => text);
  }

  #forget(): void {
    for (const [id, { until }] of this.#open) if (until <= Date.now()) this.#open.delete(id);
  }
}
