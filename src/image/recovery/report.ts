// Decides what is known of a loss: what the lost image held, what was built again, and what was not.

import type { Ending } from '../wire/endings.ts';
import type { ReplayRemark } from '../wire/operations.ts';

/** The beginnings of the first few forms, and how many there were. */
export interface Beginnings {
  count: number;
  first: string[];
}

/** What an image holds, as far as it is told when that is lost. */
export interface Held {
  evaluations: number;
  /** How many forms were evaluated that built nothing. */
  notRun: number;
  systems: string[];
  files: string[];
  tools: string[];
  /** Variables that forms which are not run again can have set. */
  variables: string[];
  /** Forms that changed the Lisp system itself. */
  damages: Beginnings;
  /** Forms that built and did not end well. */
  unfinished: Beginnings;
  /** Forms that built by the values of variables which others had set. */
  differing: Beginnings;
}

/** Why something could not be built again, or in which way it is another. */
export type Cause =
  /** The image or the system says so. */
  | { kind: 'told'; text: string }
  /** It ended so, and not well. */
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

/** What is not as it was, and why; LEFT_OUT says that it is built again no more. */
export interface Remark {
  what: string;
  cause: Cause;
  leftOut?: boolean;
}

/** What became of a rebuild. */
export interface Rebuilt {
  forms: number;
  files: string[];
  systems: string[];
  tools: string[];
  failed: Remark[];
  changed: Remark[];
  /** Forms that ended well, with the names that they defined once and not this time. */
  missing: Remark[];
  /** Entries for which there was no time. */
  unreached: number;
  /** The image was lost again too often, so it was not built again at all. */
  gaveUp: boolean;
  milliseconds: number;
}

/** What is the matter with the journal of what built the image: it has no room, or cannot be kept on the disk. */
export type JournalNote =
  | { kind: 'journal full'; entries: number }
  | { kind: 'journal unwritable'; why: string };

/** What the last loss took, and what was built again. */
export interface LossReport {
  /** When the image that took the place of the lost one was ready, as an ISO time. */
  time: string;
  /** How images were lost since the last report, as parts of a sentence. */
  how: string[];
  held: Held;
  /** Whether images are built again here. */
  replay: boolean;
  /** Absent when nothing was to be built again. */
  rebuilt?: Rebuilt;
  /** Lines of the journal that could not be read. */
  damaged?: number;
  /** Entries of the journal that were left, as somebody asked. */
  forgotten?: number;
  /** How many images in a row were built again and then lost soon, when that is suspicious. */
  barren?: number;
}

/** Names of a kind, and beginnings, that are kept. */
const NAMES = 1000;
const BEGINNINGS = 5;

const NAME_KINDS = ['systems', 'files', 'tools', 'variables'] as const;
const FORM_KINDS = ['damages', 'unfinished', 'differing'] as const;

/** Returns what an image holds that is new. */
export function nothingHeld(): Held {
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

/** Returns what a rebuild has done that has not begun. */
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

/** Adds to HELD what OTHER, the next image, held. */
export function addHeld(held: Held, other: Held): void {
  held.evaluations += other.evaluations;
  held.notRun += other.notRun;
  for (const kind of NAME_KINDS) for (const name of other[kind]) addName(held[kind], name);
  for (const kind of FORM_KINDS) {
    held[kind].count += other[kind].count;
    held[kind].first = [...held[kind].first, ...other[kind].first].slice(0, BEGINNINGS);
  }
}

/** Adds the form that begins with TEXT to FORMS. */
export function addForm(forms: Beginnings, text: string): void {
  forms.count++;
  if (forms.first.length < BEGINNINGS) forms.first.push(text);
}

/** Adds NAME to NAMES, when it is not there and there is room. */
export function addName(names: string[], name: string): void {
  if (names.length < NAMES && !names.includes(name)) names.push(name);
}

/** Returns the remarks in FAILED, which can be anything. */
export function remarksOf(failed: unknown): ReplayRemark[] {
  return (Array.isArray(failed) ? failed : []).map((each: unknown) => {
    const { index, why, missing, broken } = { ...Object(each) } as { [member: string]: unknown };
    return {
      index: Number.isInteger(index) ? Number(index) : -1,
      ...(typeof why === 'string' && { why }),
      ...(Array.isArray(missing) && { missing: missing.map(String) }),
      ...(broken === true && { broken }),
    };
  });
}

/** Returns why ENDING is not what it should be: by itself, or because of OTHERWISE. */
export function causeOf(ending: Ending, otherwise: 'not ended' | 'not compiled' | 'no such system'): Cause {
  return ending.kind === 'done' || ending.kind === 'aborted'
    ? { kind: otherwise }
    : { kind: 'ended', ending };
}
