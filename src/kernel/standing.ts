// Decides what runs without being asked for: what a human allowed at the start of the server, or for the session.

import picomatch from 'picomatch';

/** A tool that may run without being asked for, in the places that match GLOB, or everywhere. */
export interface StandingApproval {
  tool: string;
  glob?: string;
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

  /** Lets TOOL run from now on for files like the one at PLACE, or for all when it is about no file. */
  allowForSession(tool: string, place: string | undefined): void {
    const matches = (other: string) => place === undefined || (isLike(place, other) && this.canLast(other));
    this.#rules.push({ tool, matches });
  }

  /** Returns whether an approval can hold for the session that is asked for at PLACE. It must not for what something runs or
   *  obeys by itself. Of all files, only Lisp sources are sure to be none of these. */
  canLast(place: string | undefined): boolean {
    if (place === undefined) return true;
    return LISP_SOURCE.test(place) && !OBEYED.test(place) && !this.#obeyed.includes(place);
  }

  /** Returns whether TOOL may run at PLACE. */
  covers(tool: string, place = ''): boolean {
    return this.#rules.some((rule) => rule.tool === tool && rule.matches(place));
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
