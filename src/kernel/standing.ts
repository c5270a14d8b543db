// Keeps the standing approvals, given at start or for the session, which let calls run unasked.

import picomatch from 'picomatch';
import type { Preview } from './tool.ts';

/** Allows TOOL to run without a question for files that match GLOB; without GLOB, for any call. */
export interface StandingApproval {
  tool: string;
  glob?: string;
}

/** The files that a call concerns, if any. PLACE is the first file. */
export type PlacesOf = Pick<Preview, 'place' | 'otherPlaces'>;

/** Returns the files that a call concerns; [undefined] when it concerns none. */
export function placesOf({ place, otherPlaces = [] }: PlacesOf): (string | undefined)[] {
  return [place, ...otherPlaces];
}

/** All standing approvals, those from the start of the server and those for the session. */
export class StandingApprovals {
  readonly #rules: Rule[] = [];
  readonly #sessionRules: Rule[] = [];
  readonly #executedFiles: readonly string[];

  /** Allows calls by RULES. EXECUTED_FILES are the names in the workspace of files that live-lisp itself
   *  runs, such as the file of --init. */
  constructor(rules: readonly StandingApproval[] = [], executedFiles: readonly string[] = []) {
    this.#executedFiles = executedFiles;
    for (const rule of rules) this.allow(rule);
  }

  /** Allows TOOL from now on, for files that match GLOB; without GLOB, for all its calls. */
  allow({ tool, glob }: StandingApproval): void {
    const matches = glob === undefined ? () => true : picomatch(glob, { dot: true, strictSlashes: true });
    this.#rules.push({ tool, matches });
  }

  /** Allows TOOL from now on for files like those at PLACES. An undefined place allows all calls. */
  allowForSession(tool: string, ...places: (string | undefined)[]): void {
    for (const place of places) {
      const matches = (other: string) =>
        place === undefined || (isSameKind(place, other) && this.canHoldForSession(other));
      this.#sessionRules.push({ tool, matches });
    }
  }

  /** True when an approval for PLACES can also cover later calls of the session. It cannot for files that
   *  programs execute or obey without asking. Only Lisp sources are known to be no such files. */
  canHoldForSession(...places: (string | undefined)[]): boolean {
    return places.every(
      (place) =>
        place === undefined ||
        (LISP_SOURCE.test(place) && !OBEYED.test(place) && !this.#executedFiles.includes(place)),
    );
  }

  /** True when TOOL may run at every one of PLACES. */
  covers(tool: string, ...places: (string | undefined)[]): boolean {
    return allow([...this.#rules, ...this.#sessionRules], tool, places);
  }

  /** True when TOOL may run at every one of PLACES by the approvals from the start of the server alone. */
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

/** Matches hidden files and folders, where programs keep what they run, and init files of a Lisp. */
const OBEYED = /(?:^|\/)\.(?!\.?(?:\/|$))|(?:^|[/._-])(?:init|setup|site|\w*rc)\.\w+$/i;

/** True when OTHER is in the same folder as the file at PLACE, and has the same extension. */
function isSameKind(place: string, other: string): boolean {
  return folderOf(other) === folderOf(place) && extensionOf(other) === extensionOf(place);
}

/** Returns the folder of the file at PLACE; '.' when PLACE has none. */
export function folderOf(place: string): string {
  const end = place.lastIndexOf('/');
  return end === -1 ? '.' : place.slice(0, end);
}

/** Returns the extension of the file at PLACE, with its dot; '' when there is none. */
export function extensionOf(place: string): string {
  return /[^/](\.[^./]*)$/.exec(place)?.[1] ?? '';
}

/** Parses TEXT, `TOOL` or `TOOL:GLOB`, into a standing approval. Returns undefined for other texts. */
export function readStandingApproval(text: string): StandingApproval | undefined {
  const [, tool, glob] = /^([a-z][a-z0-9_-]*)(?::(.+))?$/s.exec(text) ?? [];
  if (tool === undefined) return undefined;
  return { tool: tool.replaceAll('-', '_'), ...(glob !== undefined && { glob }) };
}
