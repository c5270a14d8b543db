// Decides how long a question to a human stays open, and that it is answered at most once.

import { CallError } from '../errors.ts';
import { visibleJson } from '../visible.ts';
import type { OpenQuestion } from './approval.ts';
import type { Shown } from './shown.ts';

const OTHER_CALL =
  'This approval was for another call, so nothing was done. Call the tool again to ask for this one.';
const MADE_ROOM = 'Nobody had answered when a hundred newer questions were open, so nothing was done.';
const SERVER_ENDS = 'Nobody had answered when the server ended, so nothing was done.';

/** Questions that are open at once; the oldest make room. */
const LIMIT = 100;

/** What is kept of a question until it is answered: not its arguments, nor all of what it shows, which may be large. */
export interface AskedQuestion extends Pick<OpenQuestion, 'tool' | 'ended' | 'late'> {
  preview: Omit<Shown, 'whole' | 'lines'>;
  /** The messages that its human has not seen yet. */
  pages: readonly string[];
  /** What an approval for the session holds for, in words; nothing where it cannot be given. */
  lasting?: string;
  /** Called once, when nobody can answer it any more. */
  closed: () => void;
  /** The arguments as JSON, unless they are long. */
  given?: string;
  /** Approved, but with arguments that are asked for now. */
  changing?: boolean;
}

/** Characters of arguments that a human can be given to change. */
const GIVEN_LIMIT = 2000;

interface Open {
  question: AskedQuestion;
  /** What it was asked for: the answer must be for the same. */
  subject: string;
  until: number;
  timer: NodeJS.Timeout;
}

/** Returns what is kept of QUESTION beside what is as REST says. */
export function askedQuestion(
  { tool, args, ended, late, preview }: OpenQuestion,
  rest: Pick<AskedQuestion, 'pages' | 'lasting' | 'closed'>,
): AskedQuestion {
  const { whole, lines, ...kept } = preview;
  const given = visibleJson(JSON.stringify(args));
  const asked = { tool, preview: kept, ended, late, ...rest };
  return given.length <= GIVEN_LIMIT ? { ...asked, given } : asked;
}

export class OpenQuestions {
  readonly #open = new Map<string, Open>();
  /** Seconds that a human has to answer. */
  readonly seconds: number;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  /** Opens QUESTION, asked for SUBJECT, under ID, which nobody can guess. One that was taken can be opened again. */
  add(id: string, question: AskedQuestion, subject: string): void {
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= LIMIT) this.#end(oldest, MADE_ROOM);
    this.#open.set(id, { question, subject, ...this.#time(id) });
  }

  #time(id: string): { until: number; timer: NodeJS.Timeout } {
    const ms = this.seconds * 1000;
    const timer = setTimeout(() => this.expire(id), ms).unref();
    return { until: Date.now() + ms, timer };
  }

  /** Closes the question of ID, which nobody answered in time, if that is not done yet. */
  expire(id: string): void {
    const question = this.#close(id)?.question;
    question?.closed();
    question?.ended('timed out', question.late);
  }

  /** Returns whether the question of ID is open. It closes one whose time is over, also where its timer is late. */
  waits(id: string): boolean {
    const open = this.#open.get(id);
    if (open !== undefined && open.until <= Date.now()) this.expire(id);
    return this.#open.has(id);
  }

  /** Closes all questions, because the server ends. */
  endAll(): void {
    for (const id of [...this.#open.keys()]) this.#end(id, SERVER_ENDS);
  }

  #end(id: string, why: string): void {
    const question = this.#close(id)?.question;
    question?.closed();
    question?.ended('nobody', why);
  }

  /** Returns the question of ID, which is open no more then. Throws a CallError when there is none for SUBJECT. */
  take(id: string, subject: string): AskedQuestion {
    const open = this.waits(id) ? this.#close(id) : undefined;
    if (open === undefined) {
      throw new CallError(
        'This approval was used already, expired, or was asked for before the server started, so nothing was done. Call the tool again to ask anew.',
      );
    }
    if (open.subject !== subject) {
      open.question.closed();
      open.question.ended('nobody', OTHER_CALL);
      throw new CallError(OTHER_CALL);
    }
    return open.question;
  }

  /** Returns what the questions about PLACE that nobody has answered yet show, the newest last. */
  about(place: string): string[] {
    const open = [...this.#open.values()].filter(({ until }) => until > Date.now());
    const previews = open.map(({ question }) => question.preview);
    const isAbout = ({ place: first, otherPlaces = [] }: (typeof previews)[number]) =>
      first === place || otherPlaces.includes(place);
    return previews.filter(isAbout).map(({ text }) => text);
  }

  #close(id: string): Open | undefined {
    const open = this.#open.get(id);
    this.#open.delete(id);
    clearTimeout(open?.timer);
    return open;
  }
}
