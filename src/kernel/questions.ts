// Holds the open questions to a human. Each has a time limit, and is answered at most once.

import { CallError } from '../errors.ts';
import type { OpenQuestion } from './approval.ts';
import type { EditorQuestion } from './human-editor.ts';
import type { RenderedPreview } from './shown.ts';

const OTHER_CALL =
  'This approval was for another call, so nothing was done. Call the tool again to ask for this one.';
const TOO_MANY_QUESTIONS =
  'Nobody had answered when a hundred newer questions were open, so nothing was done.';
const SERVER_ENDS = 'Nobody had answered when the server ended, so nothing was done.';

/** Maximum number of open questions. A further question closes the oldest. */
const LIMIT = 100;

/** The stored fields of an open question. The arguments and the full preview can be large, so they are left
 *  out. */
export interface PendingQuestion extends Pick<OpenQuestion, 'tool' | 'recordRefusal' | 'timeoutText'> {
  preview: Omit<RenderedPreview, 'whole' | 'lines'>;
  pages: readonly string[];
  /** A phrase for the calls that an approval for the session would cover; absent if none is possible. */
  sessionScope?: string;
  /** The time in milliseconds at which the client was given the form. */
  shownAt?: number;
  /** The same question in the human's editors, if any. */
  editor?: EditorQuestion;
  /** Called once, when the question can no longer be answered. */
  onClose: () => void;
}

interface OpenEntry {
  question: PendingQuestion;
  /** Digest of the call. An answer is valid only for a call with the same digest. */
  subject: string;
  deadline: number;
  timer: NodeJS.Timeout;
}

/** Returns the stored fields of the question, together with EXTRA. */
export function pendingQuestion(
  { tool, recordRefusal, timeoutText, preview }: OpenQuestion,
  extra: Pick<PendingQuestion, 'pages' | 'sessionScope' | 'editor' | 'onClose'>,
): PendingQuestion {
  const { whole, lines, ...shortPreview } = preview;
  return { tool, preview: shortPreview, recordRefusal, timeoutText, ...extra };
}

export class OpenQuestions {
  readonly #open = new Map<string, OpenEntry>();
  readonly seconds: number;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  /** Opens QUESTION with ID, which must be impossible to guess. SUBJECT is the digest of the call. A question
   *  returned by `take` can be added again. */
  add(id: string, question: PendingQuestion, subject: string): void {
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= LIMIT) this.#end(oldest, TOO_MANY_QUESTIONS);
    this.#open.set(id, { question, subject, ...this.#startTimer(id) });
  }

  #startTimer(id: string): { deadline: number; timer: NodeJS.Timeout } {
    const ms = this.seconds * 1000;
    const timer = setTimeout(() => this.expire(id), ms).unref();
    return { deadline: Date.now() + ms, timer };
  }

  /** Closes the question with this ID as timed out, if it is still open. */
  expire(id: string): void {
    this.#end(id);
  }

  /** True when the question ID is open. The timer can be late, so an expired question is closed here. */
  isOpen(id: string): boolean {
    const open = this.#open.get(id);
    if (open !== undefined && open.deadline <= Date.now()) this.expire(id);
    return this.#open.has(id);
  }

  endAll(): void {
    for (const id of [...this.#open.keys()]) this.#end(id, SERVER_ENDS);
  }

  /** Closes the question ID, and records the reason WHY or, without it, a timeout. */
  #end(id: string, why?: string): void {
    const question = this.#close(id)?.question;
    question?.onClose();
    question?.editor?.close(why === undefined ? 'nobody answered in time' : 'it was given up');
    if (why === undefined) question?.recordRefusal('timed out', question.timeoutText);
    else question?.recordRefusal('nobody', why);
  }

  /** Closes the question ID and returns it. Throws a CallError unless it was open and SUBJECT is its
   *  digest. */
  take(id: string, subject: string): PendingQuestion {
    const open = this.isOpen(id) ? this.#close(id) : undefined;
    if (open === undefined) {
      throw new CallError(
        'This approval was used already, expired, or was asked for before the server started, so nothing was done. Call the tool again to ask anew.',
      );
    }
    if (open.subject !== subject) {
      open.question.onClose();
      open.question.editor?.close('it was given up');
      open.question.recordRefusal('nobody', OTHER_CALL);
      throw new CallError(OTHER_CALL);
    }
    return open.question;
  }

  /** Returns the previews of all open questions about the file PLACE, the newest last. */
  previewsAbout(place: string): string[] {
    const open = [...this.#open.values()].filter(({ deadline }) => deadline > Date.now());
    const previews = open.map(({ question }) => question.preview);
    const isAbout = ({ place: first, otherPlaces = [] }: (typeof previews)[number]) =>
      first === place || otherPlaces.includes(place);
    return previews.filter(isAbout).map(({ text }) => text);
  }

  #close(id: string): OpenEntry | undefined {
    const open = this.#open.get(id);
    this.#open.delete(id);
    clearTimeout(open?.timer);
    return open;
  }
}
