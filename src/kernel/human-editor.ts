// Defines how the server shows calls in the human's editors, such as Emacs, and asks questions there.

import type { OpenQuestion, Verdict } from './approval.ts';

/** What the server calls the programs in which a human can answer a question. UNNAMED_EDITOR is for an editor that has
 * not sent its name. */
export const BROWSER = 'a browser';
export const TERMINAL = 'the terminal';
export const UNNAMED_EDITOR = 'an editor';

/** A call as the human's editors show it. */
export interface ShownCall {
  /** The name that the client sent as its own. */
  client: string;
  tool: string;
  args: unknown;
}

/** The answer to a call as the human's editors show it. */
export interface ShownAnswer {
  text: string;
  isError: boolean;
}

/** A running call that the human's editors show. */
export interface CallInEditors {
  id: number;
  /** Makes the editors show the end of the call, with `answer`. */
  ended: (answer: ShownAnswer) => void;
}

export interface EditorQuestion {
  /** The name of the editor with the question, such as `Emacs`. */
  where: string;
  /** Resolves with the human's verdict, or with undefined when `close` was called or no editor is connected any
   * more. */
  answer: Promise<Verdict | undefined>;
  readonly given: Verdict | undefined;
  /** Removes the question from the editors, which then show `why`, the end of a sentence. Has no effect when the
   * question was answered or closed before. */
  close: (why: string) => void;
}

/** The texts of a question, in addition to the preview. */
export interface QuestionWords {
  /** The first line of the question. */
  headline: string;
  /** Names the calls that an approval for the session would cover; absent when the human can approve only this call. */
  sessionScope?: string;
}

/** The editors of the human that are connected to this server. */
export interface HumanEditors {
  readonly watching: boolean;
  /** Makes the editors show that `call` has started. */
  callBegan: (call: ShownCall) => CallInEditors;
  /** Makes the editors show `question` with `words`. Returns undefined when no editor is connected. */
  ask: (question: OpenQuestion, words: QuestionWords) => EditorQuestion | undefined;
}
