// Decides how a human's approval is asked for and given: the question, the answers, and what was allowed in advance.

import picomatch from 'picomatch';
import { visibleName } from '../visible.ts';
import type { Arguments, Preview, Tool } from './tool.ts';

/** What a human is asked: may TOOL do with ARGS what PREVIEW shows? */
export interface Question {
  tool: Tool;
  args: Arguments;
  preview: Preview;
}

/** What a human answered (S2.12). A fingerprint says for which preview it was. */
export type Verdict =
  | { kind: 'approved'; fingerprint?: string }
  | { kind: 'modified'; args: unknown; fingerprint?: string }
  | { kind: 'denied' };

/** A tool that may run without being asked for, in the places that match GLOB, or everywhere. */
export interface StandingApproval {
  tool: string;
  glob?: string;
}

/** What a human allowed in advance, at the start of the server or for the session. */
export class StandingApprovals {
  readonly #rules: { tool: string; matches: (place: string) => boolean }[] = [];

  constructor(rules: readonly StandingApproval[] = []) {
    for (const rule of rules) this.allow(rule);
  }

  /** Lets a tool run from now on. */
  allow({ tool, glob }: StandingApproval): void {
    const matches = glob === undefined ? () => true : picomatch(glob, { dot: true, strictSlashes: true });
    this.#rules.push({ tool, matches });
  }

  /** Returns whether TOOL may run at PLACE. */
  covers(tool: string, place = ''): boolean {
    return this.#rules.some((rule) => rule.tool === tool && rule.matches(place));
  }
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
  const rule = preview.place === undefined ? tool.name : `${tool.name}:${visibleName(preview.place)}`;
  return `${needs}, and here nobody can be asked. Nothing was done. A person can allow it when they start the server: --allow ${rule}`;
}
