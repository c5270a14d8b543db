// Holds the standing approvals, from the start or for the session, for calls without question.

import picomatch from 'picomatch';
import type { Preview } from './tool.ts';

/** Allows `tool` to run without a question for files that match `glob`; without `glob`, for any call. */
export interface StandingApproval {
  tool: string;
  glob?: string;
}

/** The files of a call, if any. `place` is the first. */
export type PlacesOf = Pick<Preview, 'place' | 'otherPlaces'>;

/** Returns the files of a call; [undefined] for a call without files. */
export function placesOf({ place, otherPlaces = [] }: PlacesOf): (string | undefined)[] {
  return [place, ...otherPlaces];
}

/** All standing approvals, those from the start of the server and those for the session. */
export class StandingApprovals {
  readonly #rules: Rule[] = [];
  readonly #sessionRules: Rule[] = [];
  readonly #executedFiles: readonly string[];

  /** EXECUTED_FILES are files that live-lisp runs, such as that of --init, by their workspace names. */
  constructor(rules: readonly StandingApproval[] = [], executedFiles: readonly string[] = []) {
    this.#executedFiles = executedFiles;
    for (const rule of rules) this.allow(rule);
  }

  /** Adds an approval of a tool for files that match a glob. Without a glob, it covers all calls of the
   *  tool. */
  allow({ tool, glob }: StandingApproval): void {
    const matches = glob === undefined ? () => true : picomatch(glob, { dot: true, strictSlashes: true });
    this.#rules.push({ tool, matches });
  }

  /** Allows TOOL for files like those at PLACES until the end of the session. An undefined place allows all
   *  calls. */
  allowForSession(tool: string, ...places: (string | undefined)[]): void {
    for (const place of places) {
      const matches = (other: string) =>
        place === undefined || (isSameKind(place, other) && this.canHoldForSession(other));
      this.#sessionRules.push({ tool, matches });
    }
  }

  /** True when an approval for PLACES can also cover later calls of the session. It cannot for files that
   *  programs execute or obey without asking. Only Lisp sources are certainly no such files. */
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

  /** True when the approvals from the start of the server let TOOL run for all PLACES. */
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

/** Matches hidden files and folders, where programs store code that they run, and init files of a Lisp. */
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

/** Parses TEXT, `TOOL` or `TOOL:GLOB`, as a standing approval. Returns undefined for other texts. */
export function readStandingApproval(text: string): StandingApproval | undefined {
  const [, tool, glob] = /^([a-z][a-z0-9_-]*)(?::(.+))?$/s.exec(text) ?? [];
  if (tool === undefined) return undefined;
  return { tool: tool.replaceAll('-', '_'), ...(glob !== undefined && { glob }) };
}
