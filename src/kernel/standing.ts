// Decides what runs without being asked for: what a human allowed at the start of the server, or for the session.

import picomatch from 'picomatch';
import { runsAtStart } from './start-files.ts';

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

  /** Lets TOOL run from now on for files like the one at PLACE, or for all when it is about no file. */
  allowForSession(tool: string, place: string | undefined): void {
    const matches = (other: string) => place === undefined || isLike(place, other);
    this.#rules.push({ tool, matches });
  }

  /** Returns whether TOOL may run at PLACE. */
  covers(tool: string, place = ''): boolean {
    return this.#rules.some((rule) => rule.tool === tool && rule.matches(place));
  }
}

/** Returns whether an approval for the session can hold that is asked for at PLACE. */
export function holdsForSession(place: string | undefined): boolean {
  return place === undefined || !runsAtStart(place);
}

/** Returns whether an approval for the session that was given at PLACE holds for OTHER. That must be a file of the same kind
 *  directly in the same folder, which nothing runs by itself. */
function isLike(place: string, other: string): boolean {
  return (
    other !== '' &&
    folderOf(other) === folderOf(place) &&
    extensionOf(other) === extensionOf(place) &&
    !runsAtStart(other)
  );
}

/** Returns the folder of the file at PLACE. */
export function folderOf(place: string): string {
  const end = place.lastIndexOf('/');
  return end === -1 ? '.' : place.slice(0, end);
}

/** Returns the end of the name of the file at PLACE, with its point; empty when it has none. */
export function extensionOf(place: string): string {
  return /[^/](\.[^./]*)$/.exec(place)?.[1] ?? '';
}

/** Returns the standing approval that TEXT, `TOOL` or `TOOL:GLOB`, means, or undefined. */
export function readStandingApproval(text: string): StandingApproval | undefined {
  const [, tool, glob] = /^([a-z][a-z0-9_-]*)(?::(.+))?$/s.exec(text) ?? [];
  if (tool === undefined) return undefined;
  return { tool: tool.replaceAll('-', '_'), ...(glob !== undefined && { glob }) };
}
