// Defines what the editors of the human, such as Emacs, are told and asked besides their MCP client.

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
  /** The name of an editor that shows the question, such as `Emacs`. */
  where: string;
  /** Resolves with the human's verdict; with undefined when the question is closed, or no editor is left. */
  answer: Promise<Verdict | undefined>;
  /** The verdict, once an editor has given it. */
  readonly given: Verdict | undefined;
  /** Takes the question away from the editors, and tells them WHY, as the rest of a sentence. Has no effect
   *  once the question is answered or closed. */
  close: (why: string) => void;
}

/** The editors that the human watches calls in. */
export interface HumanEditors {
  /** True while an editor is connected that can be asked. */
  readonly watching: boolean;
  /** Shows that CALL begins. Returns a function that shows how it ended. */
  callBegan: (call: ShownCall) => (answer: ShownAnswer) => void;
  /** Asks QUESTION, whose first line is HEADLINE; undefined when no editor is connected. */
  ask: (question: OpenQuestion, headline: string) => EditorQuestion | undefined;
}
