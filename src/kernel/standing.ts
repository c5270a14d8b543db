// Decides what runs without being asked for: what a human allowed at the start of the server, or for the session.

import picomatch from 'picomatch';
import type { Preview } from './tool.ts';

/** A tool that may run without being asked for, in the places that match GLOB, or everywhere. */
export interface StandingApproval {
  tool: string;
  glob?: string;
}

/** The files that a call is about, if it is about any: one, and others. */
export type PlacesOf = Pick<Preview, 'place' | 'otherPlaces'>;

/** Returns the files that a call is about; an absent one when it is about none. */
export function placesOf({ place, otherPlaces = [] }: PlacesOf): (string | undefined)[] {
  return [place, ...otherPlaces];
}

/** What a human allowed in advance, at the start of the server or for the session. */
export class StandingApprovals {
  readonly #rules: { tool: string; matches: (place: string) => boolean }[] = [];
  readonly #obeyed: readonly string[];

  /** OBEYED are the places of files that live-lisp itself runs. */
  constructor(rules: readonly StandingApproval[] = [], obeyed: readonly string[] = []) {
    this.#obeyed = obeyed;
    for (const rule of rules) this.allow(rule);
  }

  /** Lets a tool run from now on. */
  allow({ tool, glob }: StandingApproval): void {
    const matches = glob === undefined ? () => true : picomatch(glob, { dot: true, strictSlashes: true });
    this.#rules.push({ tool, matches });
  }

  /** Lets TOOL run from now on for files like those at PLACES, or for all when one is absent. */
  allowForSession(tool: string, ...places: (string | undefined)[]): void {
    for (const place of places) {
      const matches = (other: string) => place === undefined || (isLike(place, other) && this.canLast(other));
      this.#rules.push({ tool, matches });
    }
  }

  /** Returns whether an approval can hold for the session that is asked for at PLACES. It must not for what something runs
   *  or obeys by itself. Of all files, only Lisp sources are sure to be none of these. */
  canLast(...places: (string | undefined)[]): boolean {
    return places.every(
      (place) =>
        place === undefined ||
        (LISP_SOURCE.test(place) && !OBEYED.test(place) && !this.#obeyed.includes(place)),
    );
  }

  /** Returns whether TOOL may run at each of PLACES. */
  covers(tool: string, ...places: (string | undefined)[]): boolean {
    return places.every((place = '') =>
      this.#rules.some((rule) => rule.tool === tool && rule.matches(place)),
    );
  }
}

const LISP_SOURCE = /\.(?:lisp|lsp|cl)$/i;

/** Hidden files and folders, where shells, editors, git and agents keep what they run, and what sets a Lisp up. */
const OBEYED = /(?:^|\/)\.(?!\.?(?:\/|$))|(?:^|[/._-])(?:init|setup|site|\w*rc)\.\w+$/i;

/** Returns whether OTHER is a file of the same kind directly in the same folder as that at PLACE. */
function isLike(place: string, other: string): boolean {
  return folderOf(other) === folderOf(place) && extensionOf(other) === extensionOf(place);
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
