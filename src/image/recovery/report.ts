// Defines the report of a loss: the contents of the lost image, and the result of the rebuild.

import type { Ending } from '../wire/endings.ts';

/** The number of forms of a kind, and the beginnings of the first few. */
export interface Beginnings {
  count: number;
  first: string[];
}

/** The contents of an image for the report of its loss. */
export interface ImageContents {
  evaluations: number;
  /** Number of evaluated forms that did not change the image, so that a rebuild skips them. */
  notRun: number;
  systems: string[];
  files: string[];
  tools: string[];
  /** Names of variables that forms without rebuild may have set. */
  variables: string[];
  /** Forms that changed the Lisp system itself. */
  damages: Beginnings;
  /** Forms and loads that can have changed the image before they failed. */
  unfinished: Beginnings;
  /** Forms of a rebuild whose effect depended on the values of `variables`. */
  differing: Beginnings;
}

/** The reason why an entry could not be rebuilt, or the difference of its rebuild. */
export type Cause =
  /** `text` is the reason, in the words of the image or of the operating system. */
  | { kind: 'text'; text: string }
  /** The operation ended with `ending`, not normally. */
  | { kind: 'ended'; ending: Ending }
  | {
      kind: 'not ended' | 'not compiled' | 'no such system' | 'image broken' | 'file gone' | 'not kept';
    }
  /** The file differs from the content loaded before the loss. `again` is the content that the rebuild
   *  loaded: the stored one, or the file as it is now. */
  | { kind: 'file changed'; gone: boolean; again: 'kept' | 'as it is now' }
  /** `count` files of the system have changed since its last load. */
  | { kind: 'system changed'; count: number }
  /** The form succeeded, but did not define these names. */
  | { kind: 'names missing'; names: string[] };

/** An entry that was not rebuilt, or not as before. */
export interface Remark {
  /** A label of the entry or its file, for people. */
  what: string;
  cause: Cause;
  /** True when no later rebuild tries this entry again. */
  leftOut?: boolean;
}

/** Result of a rebuild. */
export interface Rebuilt {
  forms: number;
  files: string[];
  systems: string[];
  tools: string[];
  failed: Remark[];
  changed: Remark[];
  /** Forms that succeeded, but did not define all their earlier names. */
  missing: Remark[];
  /** Number of entries that were not rebuilt for lack of time. */
  unreached: number;
  /** True when nothing was rebuilt because the image had been lost too often. */
  gaveUp: boolean;
  milliseconds: number;
}

/** A problem of the journal: it is full, or cannot be stored on the disk. */
export type JournalNote =
  | { kind: 'journal full'; entries: number }
  | { kind: 'journal unwritable'; why: string };

/** The losses since the last report, and the result of the rebuild. */
export interface LossReport {
  /** The time when the image that replaced the lost one was ready, in ISO format. */
  time: string;
  /** The reasons for the losses of images since the last report, as parts of sentences. */
  how: string[];
  held: ImageContents;
  /** True when this server rebuilds lost images. */
  replay: boolean;
  /** Absent when there was nothing to rebuild. */
  rebuilt?: Rebuilt;
  /** Number of lines of the previous server's journal that could not be read. */
  damaged?: number;
  /** Number of journal entries left out because the user asked for an image without them. */
  forgotten?: number;
  /** Number of images in a row that were lost soon after their rebuild. Absent when they are too few to blame
   *  the rebuild. */
  barren?: number;
}

/** Maximum number of names to keep of each kind. */
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

/** Adds OTHER, the contents of a later lost image, to CONTENTS. */
export function addContents(contents: ImageContents, other: ImageContents): void {
  contents.evaluations += other.evaluations;
  contents.notRun += other.notRun;
  for (const kind of NAME_KINDS) for (const name of other[kind]) addName(contents[kind], name);
  for (const kind of FORM_KINDS) {
    contents[kind].count += other[kind].count;
    contents[kind].first = [...contents[kind].first, ...other[kind].first].slice(0, BEGINNING_LIMIT);
  }
}

/** Adds the form that begins with TEXT to FORMS. */
export function addForm(forms: Beginnings, text: string): void {
  forms.count++;
  if (forms.first.length < BEGINNING_LIMIT) forms.first.push(text);
}

/** Adds NAME to NAMES, unless it is in NAMES or the list is full. */
export function addName(names: string[], name: string): void {
  if (names.length < NAME_LIMIT && !names.includes(name)) names.push(name);
}

/** Returns the cause for an operation with ENDING that failed to do its work. The cause is OTHERWISE when
 *  ENDING is no failure, else ENDING itself. */
export function causeOf(ending: Ending, otherwise: 'not ended' | 'not compiled' | 'no such system'): Cause {
  return ending.kind === 'done' || ending.kind === 'aborted'
    ? { kind: otherwise }
    : { kind: 'ended', ending };
}
