// Holds standing approvals, which let calls run without a question. Some are on the command line of the server; the
// human gives others for the session.

import picomatch from 'picomatch';
import type { Preview } from './tool.ts';

/** An approval that lets `tool` run without a question for files that match `glob`. Without `glob`, it covers all
 * calls. */
export interface StandingApproval {
  tool: string;
  glob?: string;
}

/** The files of a call. `place` is the first one, or undefined for a call without files. */
export type PlacesOf = Pick<Preview, 'place' | 'otherPlaces'>;

/** Returns the files of a call. For a call without files, returns [undefined]. */
export function placesOf({ place, otherPlaces = [] }: PlacesOf): (string | undefined)[] {
  return [place, ...otherPlaces];
}

/** The approvals that cover more than one call: those from the command line of the server, and those that the human has
 * given for the session. */
export class StandingApprovals {
  readonly #rules: Rule[] = [];
  readonly #sessionRules: Rule[] = [];
  readonly #executedFiles: readonly string[];

  /** EXECUTED_FILES are the workspace names of files that live-lisp runs, such as the file of --init. */
  constructor(rules: readonly StandingApproval[] = [], executedFiles: readonly string[] = []) {
    this.#executedFiles = executedFiles;
    for (const rule of rules) this.allow(rule);
  }

  /** Adds an approval of a tool for files that match a glob. Without a glob, it covers all calls of the tool. */
  allow({ tool, glob }: StandingApproval): void {
    const matches = glob === undefined ? () => true : picomatch(glob, { dot: true, strictSlashes: true });
    this.#rules.push({ tool, matches });
  }

  /** Lets TOOL run without a question until the end of the session. PLACES are paths. An approval for a path also
   * covers other files in its folder with the same extension, if canHoldForSession returns true for them. An undefined
   * place stands for all calls. */
  allowForSession(tool: string, ...places: (string | undefined)[]): void {
    for (const place of places) {
      const matches = (other: string) =>
        place === undefined || (isSameKind(place, other) && this.canHoldForSession(other));
      this.#sessionRules.push({ tool, matches });
    }
  }

  /** Returns true when an approval of a call with the files PLACES can also cover later calls of the session. It cannot
   * when a program may, without asking, execute one of these files or read settings from it. So all of PLACES must be
   * Lisp sources, but no init files, hidden files, or files that live-lisp runs. */
  canHoldForSession(...places: (string | undefined)[]): boolean {
    return places.every(
      (place) =>
        place === undefined ||
        (LISP_SOURCE.test(place) && !OBEYED.test(place) && !this.#executedFiles.includes(place)),
    );
  }

  covers(tool: string, ...places: (string | undefined)[]): boolean {
    return allow([...this.#rules, ...this.#sessionRules], tool, places);
  }

  /** Returns true when the approvals from the start of the server let TOOL run for all of PLACES. */
  coversFromStart(tool: string, ...places: (string | undefined)[]): boolean {
    return allow(this.#rules, tool, places);
  }
}

interface Rule {
  tool: string;
  matches: (place: string) => boolean;
}

function allow(rules: readonly Rule[], tool: string, places: readonly (string | undefined)[]): boolean {
  return places.every((place = '') => rules.some((rule) => rule.tool === tool && rule.matches(place)));
}

const LISP_SOURCE = /\.(?:lisp|lsp|cl)$/i;

/** Matches hidden files, files in hidden folders, and init files of a Lisp. Programs may run the code in them. */
const OBEYED = /(?:^|\/)\.(?!\.?(?:\/|$))|(?:^|[/._-])(?:init|setup|site|\w*rc)\.\w+$/i;

/** Returns true when OTHER is in the same folder as PLACE and has the same extension. */
function isSameKind(place: string, other: string): boolean {
  return folderOf(other) === folderOf(place) && extensionOf(other) === extensionOf(place);
}

/** Returns the folder of the file PLACE; '.' when PLACE names no folder. */
export function folderOf(place: string): string {
  const end = place.lastIndexOf('/');
  return end === -1 ? '.' : place.slice(0, end);
}

/** Returns the extension of the file PLACE, with its dot; '' when it has none. */
export function extensionOf(place: string): string {
  return /[^/](\.[^./]*)$/.exec(place)?.[1] ?? '';
}

/** Parses TEXT, `TOOL` or `TOOL:GLOB`, as a standing approval. Returns undefined for other texts. */
export function readStandingApproval(text: string): StandingApproval | undefined {
  const [, tool, glob] = /^([a-z][a-z0-9_-]*)(?::(.+))?$/s.exec(text) ?? [];
  if (tool === undefined) return undefined;
  return { tool: tool.replaceAll('-', '_'), ...(glob !== undefined && { glob }) };
}
