// Defines the report of a loss: what the lost image held, what was rebuilt, and what was not.

import type { Ending } from '../wire/endings.ts';
import type { ReplayRemark } from '../wire/operations.ts';

/** How many forms there were, and the beginnings of the first few. */
export interface Beginnings {
  count: number;
  first: string[];
}

/** What an image holds, as a report of its loss lists it. */
export interface Contents {
  evaluations: number;
  /** Evaluated forms that did not build the image. */
  notRun: number;
  systems: string[];
  files: string[];
  tools: string[];
  /** Variables that can have been set by forms which a rebuild does not run. */
  variables: string[];
  /** Forms that changed the Lisp system itself. */
  damages: Beginnings;
  /** Forms that built something and did not end well. */
  unfinished: Beginnings;
  /** Forms whose effect depended on variables that other forms had set. */
  differing: Beginnings;
}

/** Why something could not be rebuilt, or how it differs. */
export type Cause =
  /** TEXT is the reason that the image or the operating system gave. */
  | { kind: 'told'; text: string }
  /** The operation had this ENDING instead of a normal end. */
  | { kind: 'ended'; ending: Ending }
  | {
      kind:
        | 'not ended'
        | 'not compiled'
        | 'no such system'
        | 'image broken'
        | 'runs on'
        | 'file gone'
        | 'not kept';
    }
  /** The file is not what was loaded then; AGAIN says what was loaded instead. */
  | { kind: 'file changed'; gone: boolean; again: 'kept' | 'as it is now' }
  /** COUNT files of the system are not what was loaded then. */
  | { kind: 'system changed'; count: number }
  /** These names are not defined. */
  | { kind: 'names missing'; names: string[] };

/** What differs, and why. LEFT_OUT: the entry will not be rebuilt any more. */
export interface Remark {
  what: string;
  cause: Cause;
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
  /** Forms that ended well, but did not define these names as they had before. */
  missing: Remark[];
  /** Number of entries that were not rebuilt, for lack of time. */
  unreached: number;
  /** Nothing was rebuilt, because the image had been lost too often. */
  gaveUp: boolean;
  milliseconds: number;
}

/** A problem of the journal: it is full, or cannot be stored on the disk. */
export type JournalNote =
  | { kind: 'journal full'; entries: number }
  | { kind: 'journal unwritable'; why: string };

/** What the last losses took, and what was rebuilt. */
export interface LossReport {
  /** When the replacing image was ready, as an ISO time. */
  time: string;
  /** How images were lost since the last report, as parts of a sentence. */
  how: string[];
  held: Contents;
  /** True when images are rebuilt here. */
  replay: boolean;
  /** Absent when there was nothing to rebuild. */
  rebuilt?: Rebuilt;
  /** Lines of the journal that could not be read. */
  damaged?: number;
  /** Journal entries that were not rebuilt, on request. */
  forgotten?: number;
  /** How many images in a row were rebuilt and lost soon after, if suspiciously many. */
  barren?: number;
}

/** At most this many names of a kind, and beginnings of forms, are kept. */
const NAMES = 1000;
const BEGINNINGS = 5;

const NAME_KINDS = ['systems', 'files', 'tools', 'variables'] as const;
const FORM_KINDS = ['damages', 'unfinished', 'differing'] as const;

/** Returns what a new image holds. */
export function emptyContents(): Contents {
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

/** Adds to CONTENTS what OTHER, the next image, held. */
export function addContents(contents: Contents, other: Contents): void {
  contents.evaluations += other.evaluations;
  contents.notRun += other.notRun;
  for (const kind of NAME_KINDS) for (const name of other[kind]) addName(contents[kind], name);
  for (const kind of FORM_KINDS) {
    contents[kind].count += other[kind].count;
    contents[kind].first = [...contents[kind].first, ...other[kind].first].slice(0, BEGINNINGS);
  }
}

/** Adds the form that begins with TEXT to FORMS. */
export function addForm(forms: Beginnings, text: string): void {
  forms.count++;
  if (forms.first.length < BEGINNINGS) forms.first.push(text);
}

/** Adds NAME to NAMES, if it is new and there is room. */
export function addName(names: string[], name: string): void {
  if (names.length < NAMES && !names.includes(name)) names.push(name);
}

/** Returns the remarks in FAILED, an unchecked value. */
export function remarksOf(failed: unknown): ReplayRemark[] {
  return (Array.isArray(failed) ? failed : []).map((remark: unknown) => {
    const { index, why, missing, broken } = { ...Object(remark) } as { [member: string]: unknown };
    return {
      index: Number.isInteger(index) ? Number(index) : -1,
      ...(typeof why === 'string' && { why }),
      ...(Array.isArray(missing) && { missing: missing.map(String) }),
      ...(broken === true && { broken }),
    };
  });
}

/** Returns the cause when ENDING is not the expected end: ENDING itself, or OTHERWISE when it is no failure. */
export function causeOf(ending: Ending, otherwise: 'not ended' | 'not compiled' | 'no such system'): Cause {
  return ending.kind === 'done' || ending.kind === 'aborted'
    ? { kind: otherwise }
    : { kind: 'ended', ending };
}
