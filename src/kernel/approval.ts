// Decides what a human is asked and can answer, and what is told of a call that nobody approved.

import type { Authority } from './audit.ts';
import type { Arguments } from './parameter.ts';
import type { Shown } from './shown.ts';
import { type PlacesOf, placesOf } from './standing.ts';
import type { Tool } from './tool.ts';

/** What a human is asked: may TOOL do with ARGS what PREVIEW shows? */
export interface Question {
  tool: Tool;
  args: Arguments;
  preview: Shown;
}

/** A question that nobody has answered yet. */
export interface OpenQuestion extends Question {
  /** Whether an approval of it can hold for the session. */
  lasts: boolean;
  /** Records WHY it ended without anybody who approved, by AUTHORITY. Never throws. */
  ended: (authority: Authority, why: string) => void;
  /** What is told when nobody answers in time. */
  late: string;
}

/** What is asked about: TOOL, and the files that it is about, if any; the place is empty when these are not known. NEEDED are
 *  the tools that must be allowed for it. */
interface About extends PlacesOf {
  tool: Tool;
  needed: readonly Tool[];
}

/** What a human answered (S2.12), or that nobody did (C29). What is void counts for nothing; WHY tells what was wrong with it.
 *  A fingerprint says for which preview it was; SESSION, that it holds for more such calls. */
export type Verdict =
  | { kind: 'approved'; fingerprint?: string; session?: boolean }
  | { kind: 'modified'; args: unknown; fingerprint?: string }
  | { kind: 'denied' }
  | { kind: 'unanswered' }
  | { kind: 'void'; why: string };

/** Returns the text for a call that needs an approval when nobody can be asked for it (C20). Who calls from CODE
 *  can call the tool directly, so that a human is. */
export function refusalText(question: About, code: boolean): string {
  const { tool } = question;
  const needs = `Tool ${tool.name} is ${tool.safetyLevel} and needs a human's approval`;
  if (code) {
    return `${needs}, for which code cannot ask. Nothing was done. Call ${tool.name} directly, not from code, so that a human can be asked.`;
  }
  return `${needs}, and here nobody can be asked. Nothing was done. ${allowanceText(question)}`;
}

/** Returns the text for a call about which a human was asked, when the client gave no answer of theirs (C29). */
export function unansweredText(question: About, late = false): string {
  const { name, safetyLevel } = question.tool;
  const nobody = late ? 'Nobody answered in time' : 'Nobody answered the question';
  return `Tool ${name} is ${safetyLevel} and needs a human's approval. ${nobody}, so nothing was done. ${allowanceText(question)}`;
}

/** Returns what is told besides a denial: clients that run without a person deny by themselves. */
export function deniedHint(question: About): string {
  return `Nothing was done. If no person decided this, the client did by itself. ${allowanceText(question)}`;
}

/** Files that are named one by one. */
const NAMED = 3;

/** Returns the sentence that says how a person allows the calls that QUESTION is about in advance: in each of its files. */
function allowanceText({ tool, needed, ...about }: About): string {
  if (tool.approvedAs !== undefined) {
    return `A person can allow it when the file that they start the server with defines it: --init FILE --allow ${tool.name}`;
  }
  // Whoever copies it into a shell must not allow more.
  const isLiteral = (place: string) => /^[\w./-]+$/.test(place);
  const places = placesOf(about).map((place) =>
    place === undefined ? '' : `:${isLiteral(place) ? place : 'GLOB'}`,
  );
  const told = places.length > NAMED ? [':GLOB'] : [...new Set(places)];
  // No other tool can be allowed for files.
  const rules = needed.flatMap((each) =>
    (each.preview ? told : ['']).map((place) => `--allow ${each.allowedAs ?? each.name}${place}`),
  );
  return `A person can allow it when they start the server: ${rules.join(' ')}`;
}
