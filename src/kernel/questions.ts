// Keeps the open questions to a human: each has a time limit and is answered at most once.

import { CallError } from '../errors.ts';
import { visibleJson } from '../visible.ts';
import type { OpenQuestion } from './approval.ts';
import type { RenderedPreview } from './shown.ts';

const OTHER_CALL =
  'This approval was for another call, so nothing was done. Call the tool again to ask for this one.';
const MADE_ROOM = 'Nobody had answered when a hundred newer questions were open, so nothing was done.';
const SERVER_ENDS = 'Nobody had answered when the server ended, so nothing was done.';

/** Most questions open at once; a new one closes the oldest. */
const LIMIT = 100;

/** What is kept of a question until it is answered: without its arguments and the full preview, which may be large. */
export interface PendingQuestion extends Pick<OpenQuestion, 'tool' | 'recordRefusal' | 'timeoutText'> {
  preview: Omit<RenderedPreview, 'whole' | 'lines'>;
  /** The messages that the human has not seen yet. */
  pages: readonly string[];
  /** What an approval for the session would cover, in words; absent where none can be given. */
  sessionScope?: string;
  /** Called once, when the question can no longer be answered. */
  onClose: () => void;
  /** The arguments as JSON, unless they are too long. */
  argumentsJson?: string;
  /** Approved, but the human is now asked for changed arguments. */
  awaitsArguments?: boolean;
}

/** Most characters of arguments that a human can be given to change. */
const ARGUMENTS_LIMIT = 2000;

interface OpenEntry {
  question: PendingQuestion;
  /** Digest of the call that the question is about: the answer must be about the same call. */
  subject: string;
  deadline: number;
  timer: NodeJS.Timeout;
}

/** Returns what is kept of QUESTION, with EXTRA. */
export function pendingQuestion(
  { tool, args, recordRefusal, timeoutText, preview }: OpenQuestion,
  extra: Pick<PendingQuestion, 'pages' | 'sessionScope' | 'onClose'>,
): PendingQuestion {
  const { whole, lines, ...shortPreview } = preview;
  const pending = { tool, preview: shortPreview, recordRefusal, timeoutText, ...extra };
  const json = JSON.stringify(args);
  // Escaping is slow for a long text, and only makes it longer.
  const argumentsJson = json.length > ARGUMENTS_LIMIT ? json : visibleJson(json);
  return argumentsJson.length <= ARGUMENTS_LIMIT ? { ...pending, argumentsJson } : pending;
}

export class OpenQuestions {
  readonly #open = new Map<string, OpenEntry>();
  /** Seconds that a human has to answer. */
  readonly seconds: number;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  /** Opens QUESTION, about the call SUBJECT, under the unguessable ID. A question that was taken can be added again. */
  add(id: string, question: PendingQuestion, subject: string): void {
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= LIMIT) this.#end(oldest, MADE_ROOM);
    this.#open.set(id, { question, subject, ...this.#startTimer(id) });
  }

  #startTimer(id: string): { deadline: number; timer: NodeJS.Timeout } {
    const ms = this.seconds * 1000;
    const timer = setTimeout(() => this.expire(id), ms).unref();
    return { deadline: Date.now() + ms, timer };
  }

  /** Closes the question of ID as timed out, if it is still open. */
  expire(id: string): void {
    this.#end(id);
  }

  /** True when the question of ID is open. Closes it first if its time is over, in case its timer is late. */
  isOpen(id: string): boolean {
    const open = this.#open.get(id);
    if (open !== undefined && open.deadline <= Date.now()) this.expire(id);
    return this.#open.has(id);
  }

  /** Closes all questions, because the server ends. */
  endAll(): void {
    for (const id of [...this.#open.keys()]) this.#end(id, SERVER_ENDS);
  }

  /** Closes the question of ID, because of WHY; as timed out without it. */
  #end(id: string, why?: string): void {
    const question = this.#close(id)?.question;
    question?.onClose();
    if (why === undefined) question?.recordRefusal('timed out', question.timeoutText);
    else question?.recordRefusal('nobody', why);
  }

  /** Closes the question of ID and returns it. Throws a CallError unless it was open and about SUBJECT. */
  take(id: string, subject: string): PendingQuestion {
    const open = this.isOpen(id) ? this.#close(id) : undefined;
    if (open === undefined) {
      throw new CallError(
        'This approval was used already, expired, or was asked for before the server started, so nothing was done. Call the tool again to ask anew.',
      );
    }
    if (open.subject !== subject) {
      open.question.onClose();
      open.question.recordRefusal('nobody', OTHER_CALL);
      throw new CallError(OTHER_CALL);
    }
    return open.question;
  }

  /** Returns the preview texts of the open questions about PLACE, the newest last. */
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
