// Defines how the server shows calls in the human's editors, such as Emacs, and asks questions there.

import type { OpenQuestion, Verdict } from './approval.ts';

/** The names that live-lisp gives to places of a question which have no name of their own. */
export const BROWSER = 'a browser';
export const TERMINAL = 'the terminal';
export const UNNAMED_EDITOR = 'an editor';

/** A call, for the human. */
export interface ShownCall {
  /** The client's name for itself. */
  client: string;
  tool: string;
  args: unknown;
}

/** The answer to a call, for the human. */
export interface ShownAnswer {
  text: string;
  isError: boolean;
}

/** A call that the editors show. */
export interface CallInEditors {
  id: number;
  /** Shows that the call has ended with `answer`. */
  ended: (answer: ShownAnswer) => void;
}

export interface EditorQuestion {
  /** The name of the editor with the question, such as `Emacs`. */
  where: string;
  /** Resolves with the human's verdict. Resolves with undefined when `close` was called, or when the last editor has
   *  disconnected. */
  answer: Promise<Verdict | undefined>;
  readonly given: Verdict | undefined;
  /** Removes the question from the editors, and shows `why` there, as the rest of a sentence. Has no effect
   *  after an answer or a close. */
  close: (why: string) => void;
}

/** What a question says besides its preview. */
export interface QuestionWords {
  /** The first line of the question. */
  headline: string;
  /** A phrase for the calls that an approval for the session would cover; absent if none is possible. */
  sessionScope?: string;
}

/** The connected editors of the human. */
export interface HumanEditors {
  readonly watching: boolean;
  /** Shows the start of `call`. */
  callBegan: (call: ShownCall) => CallInEditors;
  /** Shows `question` in the editors with `words`. Returns undefined without a connected editor. */
  ask: (question: OpenQuestion, words: QuestionWords) => EditorQuestion | undefined;
}
