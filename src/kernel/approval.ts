// Decides how a human's approval is asked for and given: the question, the answers, and what was allowed in advance.

import picomatch from 'picomatch';
import { visible } from '../visible.ts';
import type { Arguments } from './parameter.ts';
import type { Preview, Tool } from './tool.ts';

/** What a human is asked: may TOOL do with ARGS what PREVIEW shows? */
export interface Question {
  tool: Tool;
  args: Arguments;
  preview: Preview;
}

/** What a human answered (S2.12), or that nobody did (C29). A fingerprint says for which preview it was; SESSION, that it
 *  holds for more such calls. */
export type Verdict =
  | { kind: 'approved'; fingerprint?: string; session?: boolean }
  | { kind: 'modified'; args: unknown; fingerprint?: string }
  | { kind: 'denied' }
  | { kind: 'unanswered' };

/** A tool that may run without being asked for: in the places that match GLOB, directly in FOLDER, or everywhere. */
export interface StandingApproval {
  tool: string;
  glob?: string;
  folder?: string;
}

/** What a human allowed in advance, at the start of the server or for the session. */
export class StandingApprovals {
  readonly #rules: { tool: string; matches: (place: string) => boolean }[] = [];

  constructor(rules: readonly StandingApproval[] = []) {
    for (const rule of rules) this.allow(rule);
  }

  /** Lets a tool run from now on. */
  allow({ tool, glob, folder }: StandingApproval): void {
    const inFolder = (place: string) => folder === undefined || (place !== '' && folderOf(place) === folder);
    const matches = glob === undefined ? inFolder : picomatch(glob, { dot: true, strictSlashes: true });
    this.#rules.push({ tool, matches });
  }

  /** Lets TOOL run from now on in the folder of PLACE, or everywhere when it has no place. */
  allowForSession(tool: string, place: string | undefined): void {
    this.allow({ tool, ...(place !== undefined && { folder: folderOf(place) }) });
  }

  /** Returns whether TOOL may run at PLACE. */
  covers(tool: string, place = ''): boolean {
    return this.#rules.some((rule) => rule.tool === tool && rule.matches(place));
  }
}

/** Returns the folder of the file at PLACE. */
export function folderOf(place: string): string {
  const end = place.lastIndexOf('/');
  return end === -1 ? '.' : place.slice(0, end);
}

/** Characters that a human is shown of what a call would do. */
const SHOWN_LIMIT = 8000;
/** Characters that are left out besides, so that whole lines are shown. */
const LINE_LIMIT = 1000;

/** Returns TEXT as a human is shown it before they decide, with nothing in it hidden. Of a long text it is the
 *  beginning, the end, and how much is missing between. No line is shown without its beginning, where the mark of a diff stands. */
export function shownText(text: string): string {
  if (text.length <= SHOWN_LIMIT) return visible(text);
  const half = SHOWN_LIMIT / 2;
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  const [lastEnd, firstEnd] = [head.lastIndexOf('\n') + 1, tail.indexOf('\n') + 1];
  const first = half - lastEnd > LINE_LIMIT ? head : head.slice(0, lastEnd);
  const within = firstEnd === 0 || firstEnd > LINE_LIMIT;
  const last = within ? tail : `\n${tail.slice(firstEnd)}`;
  const hidden = text.length - first.length - last.length + (within ? 0 : 1);
  return `Too long to show whole: ${hidden} characters in the middle are left out.\n\n${visible(first)}[... ${hidden} characters are not shown ...]${visible(last)}`;
}

/** Returns the standing approval that TEXT, `TOOL` or `TOOL:GLOB`, means, or undefined. */
export function readStandingApproval(text: string): StandingApproval | undefined {
  const [, tool, glob] = /^([a-z][a-z0-9_-]*)(?::(.+))?$/s.exec(text) ?? [];
  if (tool === undefined) return undefined;
  return { tool: tool.replaceAll('-', '_'), ...(glob !== undefined && { glob }) };
}

/** Returns the text for a call that needs an approval when nobody can be asked for it (C20). Who calls from CODE
 *  can call the tool directly, so that a human is. */
export function refusalText({ tool, preview }: Question, code: boolean): string {
  const needs = `Tool ${tool.name} is ${tool.safetyLevel} and needs a human's approval`;
  if (code) {
    return `${needs}, for which code cannot ask. Nothing was done. Call ${tool.name} directly, not from code, so that a human can be asked.`;
  }
  return `${needs}, and here nobody can be asked. Nothing was done. ${allowanceText({ tool, preview })}`;
}

/** Returns the text for a call about which a human was asked, when the client gave no answer of theirs (C29). */
export function unansweredText(question: Omit<Question, 'args'>): string {
  const { name, safetyLevel } = question.tool;
  return `Tool ${name} is ${safetyLevel} and needs a human's approval. Nobody answered the question, so nothing was done. ${allowanceText(question)}`;
}

/** Returns what is told besides a denial: clients that run without a person deny by themselves. */
export function deniedHint(question: Omit<Question, 'args'>): string {
  return `If no person decided this, the client did by itself. ${allowanceText(question)}`;
}

/** Returns the sentence that says how a person allows the calls that QUESTION is about in advance. */
function allowanceText({ tool, preview }: Omit<Question, 'args'>): string {
  if (tool.approvedAs !== undefined) {
    return `A person can allow it when the file that they start the server with defines it: --init FILE --allow ${tool.name}`;
  }
  const literal = preview.place !== undefined && /^[\w./ -]+$/.test(preview.place);
  const rule = preview.place === undefined ? tool.name : `${tool.name}:${literal ? preview.place : 'GLOB'}`;
  return `A person can allow it when they start the server: --allow ${rule}`;
}
