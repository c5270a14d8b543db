// Defines the report of a loss: the contents of the lost image, and which of these were rebuilt.

import type { Ending } from '../wire/endings.ts';

/** How many forms of a kind there are, and the beginnings of the first few of them. */
export interface Beginnings {
  count: number;
  first: string[];
}

/** The contents of an image, as the report of its loss lists them. */
export interface ImageContents {
  evaluations: number;
  /** Number of evaluated forms that did not build the image, so that no rebuild evaluates them. */
  notRun: number;
  systems: string[];
  files: string[];
  tools: string[];
  /** Names of variables that may have been set by forms which a rebuild does not evaluate. */
  variables: string[];
  /** Forms that changed the Lisp system itself. */
  damages: Beginnings;
  /** Forms and loads that began to change the image and did not end well. */
  unfinished: Beginnings;
  /** Forms that a rebuild evaluates, but whose effect depended on the values of `variables`. */
  differing: Beginnings;
}

/** Why an entry could not be rebuilt, or how its rebuild differs from what was lost. */
export type Cause =
  /** `text` is the reason, in the words of the image or of the operating system. */
  | { kind: 'text'; text: string }
  /** The operation ended with `ending`, not normally. */
  | { kind: 'ended'; ending: Ending }
  | {
      kind: 'not ended' | 'not compiled' | 'no such system' | 'image broken' | 'file gone' | 'not kept';
    }
  /** The file differs from the content that was loaded before the loss. `again` says which content the
   *  rebuild loaded: the content that was kept, or the file as it is now. */
  | { kind: 'file changed'; gone: boolean; again: 'kept' | 'as it is now' }
  /** `count` files of the system differ from their contents when the system was loaded last. */
  | { kind: 'system changed'; count: number }
  /** The form ended well, but did not define these names. */
  | { kind: 'names missing'; names: string[] };

/** An entry that was not rebuilt, or not as it was. */
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
  /** Forms that ended well, but did not define names that they had defined before. */
  missing: Remark[];
  /** Number of entries that were not rebuilt, for lack of time. */
  unreached: number;
  /** True when nothing was rebuilt, because the image had been lost too often. */
  gaveUp: boolean;
  milliseconds: number;
}

/** A problem of the journal: it is full, or cannot be stored on the disk. */
export type JournalNote =
  | { kind: 'journal full'; entries: number }
  | { kind: 'journal unwritable'; why: string };

/** The losses since the last report, and the parts that were rebuilt. */
export interface LossReport {
  /** When the next image was ready, in ISO format. */
  time: string;
  /** How each image was lost since the last report, as part of a sentence. */
  how: string[];
  held: ImageContents;
  /** True when this server rebuilds lost images. */
  replay: boolean;
  /** Result of the rebuild; absent when there was nothing to rebuild. */
  rebuilt?: Rebuilt;
  /** Number of lines of the previous server's journal that could not be read. */
  damaged?: number;
  /** Number of journal entries that were not rebuilt, because the user asked for an image without them. */
  forgotten?: number;
  /** How many images in a row were rebuilt and lost soon after; absent when they are too few to blame the
   *  rebuild. */
  barren?: number;
}

/** Maximum number of names to keep of each kind. */
const NAME_LIMIT = 1000;
/** Maximum number of beginnings of forms to keep of each kind. */
const BEGINNING_LIMIT = 5;

const NAME_KINDS = ['systems', 'files', 'tools', 'variables'] as const;
const FORM_KINDS = ['damages', 'unfinished', 'differing'] as const;

/** Returns the contents of a new image, which holds nothing yet. */
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

/** Adds OTHER, the contents of the image that was lost next, to CONTENTS. */
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

/** Adds NAME to NAMES, unless NAMES has it or is full. */
export function addName(names: string[], name: string): void {
  if (names.length < NAME_LIMIT && !names.includes(name)) names.push(name);
}

/** Returns the cause for an operation that ended with ENDING but did not do what it should: OTHERWISE when
 *  ENDING is no failure, else ENDING itself. */
export function causeOf(ending: Ending, otherwise: 'not ended' | 'not compiled' | 'no such system'): Cause {
  return ending.kind === 'done' || ending.kind === 'aborted'
    ? { kind: otherwise }
    : { kind: 'ended', ending };
}
