// Defines the questions to a human and their answers, and writes the refusal of a call without approval.

import type { Authority, ToolCaller } from './audit.ts';
import type { Arguments } from './parameter.ts';
import type { RenderedPreview } from './shown.ts';
import { type PlacesOf, placesOf } from './standing.ts';
import type { Tool } from './tool.ts';

/** A question to a human: may `tool` be called with `args`? `preview` shows the effect of the call. */
export interface Question {
  tool: Tool;
  /** Name of the image for the call, if the server has several. */
  image?: string;
  args: Arguments;
  preview: RenderedPreview;
}

export interface OpenQuestion extends Question {
  /** True when the human can approve this call and also later calls of the session. */
  allowsSession: boolean;
  /** Records in the audit log that `authority` closed the question without approval, and the reason `why`.
   *  Never throws. */
  recordRefusal: (authority: Authority, why: string) => void;
  timeoutText: string;
  /** The number of the waiting call in the human's editors; absent when no editor shows the call. */
  shownCall?: number;
}

/** The subject of a question: a call of `tool`, and the files that the call concerns. `place` is undefined for a call
 * without files, and '' when the files are unknown. `requiredTools` are the tools that an approval must cover, so that
 * the call runs without a question. */
interface QuestionSubject extends PlacesOf {
  tool: Tool;
  requiredTools: readonly Tool[];
  caller: ToolCaller;
}

/** The human's answer to a question, or the reason why there is none. A `void` answer is invalid, for the reason `why`.
 * `fingerprint` is that of the preview that the human approved. With `session`, the approval also covers later calls of
 * this kind. `where` names the editor in which the human answered. `words` is the human's message to the model. */
export type Verdict =
  | { kind: 'approved'; fingerprint?: string; session?: boolean; where?: string }
  | { kind: 'modified'; args: unknown; fingerprint?: string }
  | { kind: 'denied'; where?: string; words?: string }
  | { kind: 'unanswered' }
  | { kind: 'void'; why: string };

/** Returns the message that refuses a call when no human can be asked. If code made the call, the message advises to
 * call the tool directly. */
export function refusalText(question: QuestionSubject): string {
  const { tool, caller } = question;
  const needs = `Tool ${tool.name} is ${tool.safetyLevel} and needs a human's approval`;
  if (caller === 'code') {
    return `${needs}, which code cannot request. Nothing was done. Call ${tool.name} directly, not from code, so that a human can be asked.`;
  }
  return `${needs}, and here nobody can be asked. Nothing was done. ${allowanceText(question)}`;
}

/** Returns the message that refuses a call when nobody answered its question. LATE is true when the time limit of the
 * question has passed. */
export function unansweredText(question: QuestionSubject, late = false): string {
  const { name, safetyLevel } = question.tool;
  const nobody = late ? 'Nobody answered in time' : 'Nobody answered the question';
  return `Tool ${name} is ${safetyLevel} and needs a human's approval. ${nobody}, so nothing was done. ${allowanceText(question)}`;
}

/** Returns the text that follows a denial: the human's words to the model, and advice on how to allow such calls. A
 * client without a person denies calls by itself, so its user needs this advice. In an editor, only a person can deny,
 * so the advice is left out. */
export function deniedHint(
  question: QuestionSubject,
  { where, words }: Extract<Verdict, { kind: 'denied' }>,
): string {
  const userWords = words === undefined ? [] : [`The user says: ${words}`];
  if (where !== undefined)
    return [`Nothing was done. The user denied the call in ${where}.`, ...userWords].join(' ');
  // A command asks in its terminal, where only a person can deny.
  if (words !== undefined || question.caller === 'command')
    return ['Nothing was done.', ...userWords].join(' ');
  return `Nothing was done. If no person decided this, the client did by itself. ${allowanceText(question)}`;
}

const MAX_NAMED_FILES = 3;

const BY_COMMAND =
  'A person can approve it: run this command in a terminal, or watch the session in Emacs or in a browser (live-lisp page).';

/** Returns advice to start the server with a rule (`--allow`) for each file, so that such calls need no question. For a
 * command, returns advice to approve the call. */
function allowanceText({ tool, requiredTools, caller, ...about }: QuestionSubject): string {
  if (caller === 'command') return BY_COMMAND;
  if (tool.approvedAs !== undefined) {
    return `A person can allow it when they start the server: --init FILE --allow ${tool.name}, where FILE defines the tool.`;
  }
  // The person types the rule in a shell. In a file name with other characters than these, the shell or the rule could
  // expand a character and so allow other files. So GLOB is shown in place of such a name.
  const isLiteral = (place: string) => /^[\w./-]+$/.test(place);
  const places = placesOf(about).map((place) =>
    place === undefined ? '' : `:${isLiteral(place) ? place : 'GLOB'}`,
  );
  const suffixes = places.length > MAX_NAMED_FILES ? [':GLOB'] : [...new Set(places)];
  // Only tools with a preview can be allowed for single files.
  const rules = requiredTools.flatMap((tool) =>
    (tool.preview ? suffixes : ['']).map((place) => `--allow ${tool.allowedAs ?? tool.name}${place}`),
  );
  return `A person can allow it when they start the server: ${rules.join(' ')}`;
}
