// Defines the report of a loss: what the lost image contained, and the result of the rebuild.

import type { Ending } from '../wire/endings.ts';

/** Describes forms: their number, and the beginnings of the first ones. */
export interface Beginnings {
  count: number;
  first: string[];
}

/** The contents of an image, as the report of its loss shows them. */
export interface ImageContents {
  evaluations: number;
  /** Number of evaluated forms for which the image reported no change, or only variables that they have set. A rebuild
   * does not evaluate them. */
  notRun: number;
  systems: string[];
  files: string[];
  tools: string[];
  /** Names of variables that may have been set by forms that a rebuild does not evaluate. */
  variables: string[];
  /** Forms that changed the Lisp system itself. */
  damages: Beginnings;
  /** Forms and loads that failed. They may have changed the image before they failed. */
  unfinished: Beginnings;
  /** Forms that used some of `variables`. A rebuild evaluates them too, but these variables may then have other
   * values. */
  differing: Beginnings;
}

/** The reason why an entry of the journal (JournalEntry) could not be rebuilt, or why the result differs. */
export type Cause =
  /** `text` is the reason, as the image or the operating system words it. */
  | { kind: 'text'; text: string }
  /** The operation did not end normally. `ending` says how it ended. */
  | { kind: 'ended'; ending: Ending }
  /** 'image broken': the image no longer works after the entry. 'file gone': the file and its stored content are gone.
   * 'not kept': only the stored content is gone, but single forms can be loaded only from this content. */
  | {
      kind: 'not ended' | 'not compiled' | 'no such system' | 'image broken' | 'file gone' | 'not kept';
    }
  /** The content of the file is not the content that was loaded before the loss. `again` says which content the rebuild
   * loaded: the stored one, or the current one. */
  | { kind: 'file changed'; gone: boolean; again: 'kept' | 'as it is now' }
  /** `count` files of the system have changed since it was last loaded. */
  | { kind: 'system changed'; count: number }
  /** The evaluation of the form succeeded, but did not define these names. */
  | { kind: 'names missing'; names: string[] };

/** An entry that was not rebuilt, or whose rebuild gave a different result. */
export interface Remark {
  /** A label of the entry or of its file, for people. */
  what: string;
  cause: Cause;
  /** True when later rebuilds do not try this entry again. */
  leftOut?: boolean;
}

/** The result of a rebuild. */
export interface Rebuilt {
  forms: number;
  files: string[];
  systems: string[];
  tools: string[];
  /** Entries that were not rebuilt, or that failed. */
  failed: Remark[];
  /** Files and systems whose content is not that of their last load before the loss. */
  changed: Remark[];
  /** Forms that succeeded, but did not define all names that they had defined before. */
  missing: Remark[];
  /** Number of entries that were not rebuilt because the time was up. */
  unreached: number;
  /** True when nothing was rebuilt, because the image had been lost too often. */
  gaveUp: boolean;
  milliseconds: number;
}

/** A problem of the journal: it is full, or it cannot be written to the disk. */
export type JournalNote =
  | { kind: 'journal full'; entries: number }
  | { kind: 'journal unwritable'; why: string };

/** The report of all losses since the last report, and of the rebuild. */
export interface LossReport {
  /** The time, in ISO format, when the image that replaces the lost one was ready. */
  time: string;
  /** The reasons for the losses, as parts of sentences. */
  how: string[];
  /** The contents of all these lost images together. */
  held: ImageContents;
  /** True when this server rebuilds lost images. */
  replay: boolean;
  /** The result of the rebuild; absent when there was nothing to rebuild. */
  rebuilt?: Rebuilt;
  /** Number of lines in the previous server's journal that could not be read. */
  damaged?: number;
  /** Number of entries that were left out because the user asked for an image without them. */
  forgotten?: number;
  /** Number of images in a row that were lost soon after their rebuild. Absent when the number is too low to suspect
   * the rebuild. */
  barren?: number;
}

/** Maximum number of names that are stored of each kind. */
const NAME_LIMIT = 1000;
const BEGINNING_LIMIT = 5;

const NAME_KINDS = ['systems', 'files', 'tools', 'variables'] as const;
const FORM_KINDS = ['damages', 'unfinished', 'differing'] as const;

export function emptyContents(): ImageContents {
  const none = () => ({ count: 0, first: [] });
  return {
    evaluations: 0,
    notRun: 0,
    systems: [],
    files: [],
    tools: [],
    variables: [],
    damages: none(),
    unfinished: none(),
    differing: none(),
  };
}

/** Returns the result of a rebuild that has not begun. */
export function nothingBuilt(): Rebuilt {
  return {
    forms: 0,
    files: [],
    systems: [],
    tools: [],
    failed: [],
    changed: [],
    missing: [],
    unreached: 0,
    gaveUp: false,
    milliseconds: 0,
  };
}

/** Adds OTHER, the contents of an image that was lost later, to CONTENTS. */
export function addContents(contents: ImageContents, other: ImageContents): void {
  contents.evaluations += other.evaluations;
  contents.notRun += other.notRun;
  for (const kind of NAME_KINDS) for (const name of other[kind]) addName(contents[kind], name);
  for (const kind of FORM_KINDS) {
    contents[kind].count += other[kind].count;
    contents[kind].first = [...contents[kind].first, ...other[kind].first].slice(0, BEGINNING_LIMIT);
  }
}

/** Adds to FORMS a form that begins with TEXT. */
export function addForm(forms: Beginnings, text: string): void {
  forms.count++;
  if (forms.first.length < BEGINNING_LIMIT) forms.first.push(text);
}

/** Adds NAME to NAMES, unless NAMES contains it already or is full. */
export function addName(names: string[], name: string): void {
  if (names.length < NAME_LIMIT && !names.includes(name)) names.push(name);
}

/** Returns the cause why an operation did not do its work: its ENDING, if this is a failure, else OTHERWISE. */
export function causeOf(ending: Ending, otherwise: 'not ended' | 'not compiled' | 'no such system'): Cause {
  return ending.kind === 'done' || ending.kind === 'aborted'
    ? { kind: otherwise }
    : { kind: 'ended', ending };
}
