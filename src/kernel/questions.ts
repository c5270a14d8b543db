// Holds the open questions to a human. Each one has a time limit, and takes at most one answer.

import { CallError } from '../errors.ts';
import type { OpenQuestion } from './approval.ts';
import type { EditorQuestion } from './human-editor.ts';
import type { RenderedPreview } from './shown.ts';

const OTHER_CALL =
  'This approval was for another call, so nothing was done. Call the tool again to ask for this one.';
const TOO_MANY_QUESTIONS =
  'Nobody answered before 100 newer questions came, so nothing was done. Call the tool again to ask anew.';
const SERVER_ENDS = 'Nobody answered before the server ended, so nothing was done.';

/** Maximum number of open questions. If one more is added, the oldest is closed. */
const LIMIT = 100;

/** The fields of an open question that are stored. The arguments and the complete preview are left out, because they
 * can be large. */
export interface PendingQuestion extends Pick<OpenQuestion, 'tool' | 'recordRefusal' | 'timeoutText'> {
  preview: Omit<RenderedPreview, 'whole' | 'lines'>;
  pages: readonly string[];
  /** Names the calls that an approval for the session would cover; absent when the human can approve only this call. */
  sessionScope?: string;
  /** The time in milliseconds at which the client was given the form. */
  shownAt?: number;
  /** The same question in the human's editors; absent when no editor shows it. */
  editor?: EditorQuestion;
  /** Called once, when the question is answered, closed or timed out. */
  onClose: () => void;
}

interface OpenEntry {
  question: PendingQuestion;
  /** The digest of the call that the question is about. An answer counts only for a call with this digest. */
  subject: string;
  deadline: number;
  timer: NodeJS.Timeout;
}

/** Returns the object to store for an open question: those fields of the question that are stored, and the fields of
 * EXTRA. */
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

  /** Opens QUESTION under ID, which nobody must be able to guess. SUBJECT is the digest of the call. A question that
   * `take` returned can be added again under a new id. */
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

  /** Closes the question with this ID as timed out, unless it is closed already. */
  expire(id: string): void {
    this.#end(id);
  }

  /** Returns true when the question ID is open. The timer of a question can be late, so an expired question is closed
   * here. */
  isOpen(id: string): boolean {
    const open = this.#open.get(id);
    if (open !== undefined && open.deadline <= Date.now()) this.expire(id);
    return this.#open.has(id);
  }

  endAll(): void {
    for (const id of [...this.#open.keys()]) this.#end(id, SERVER_ENDS);
  }

  /** Closes the question ID, and records the reason WHY. Without WHY, the reason is a timeout. */
  #end(id: string, why?: string): void {
    const question = this.#close(id)?.question;
    question?.onClose();
    question?.editor?.close(why === undefined ? 'nobody answered in time' : 'it was given up');
    if (why === undefined) question?.recordRefusal('timed out', question.timeoutText);
    else question?.recordRefusal('nobody', why);
  }

  /** Closes the question ID and returns it. Throws a CallError when the question is not open, or when SUBJECT is not
   * the digest of its call. */
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

  /** Returns the previews of the open questions about the file PLACE. The newest question comes last. */
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
