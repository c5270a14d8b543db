// Defines how the server shows calls to the human's editors, such as Emacs, and asks questions there.

import type { OpenQuestion, Verdict } from './approval.ts';

/** A call, as the human sees it. */
export interface ShownCall {
  /** The name by which the client identifies itself. */
  client: string;
  tool: string;
  /** The arguments, which are not validated. */
  args: unknown;
}

/** The answer to a call, as the human sees it. */
export interface ShownAnswer {
  text: string;
  isError: boolean;
}

/** A question that is open in the human's editors. */
export interface EditorQuestion {
  /** The name of the editor that shows the question, such as `Emacs`. */
  where: string;
  /** Resolves with the human's verdict; with undefined when the question is closed, or no editor is left. */
  answer: Promise<Verdict | undefined>;
  /** The verdict, once an editor has given it. */
  readonly given: Verdict | undefined;
  /** Removes the question from the editors, and shows WHY there, as the rest of a sentence. Has no effect
   *  when the question is answered or closed. */
  close: (why: string) => void;
}

/** The editors of the human that are connected. */
export interface HumanEditors {
  /** True while an editor is connected. */
  readonly watching: boolean;
  /** Shows that CALL has begun. Returns a function that shows how it ended. */
  callBegan: (call: ShownCall) => (answer: ShownAnswer) => void;
  /** Shows QUESTION in the editors, with HEADLINE as its first line. Returns undefined when no editor is
   *  connected. */
  ask: (question: OpenQuestion, headline: string) => EditorQuestion | undefined;
}
