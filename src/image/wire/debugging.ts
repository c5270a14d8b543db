// Decides what the operations about errors that are held take and give back.

import type { LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';
import type { Frame, Local } from './endings.ts';

/** An error that is held, in a list. */
export interface HeldRow {
  error: number;
  seconds: number;
  thread?: string;
  type: string;
}

/** Why an error does not do what was asked of it, or one of its frames. */
export interface DebugValue {
  /** It is not held, or used by another call. WHY says what became of it, HELD are the numbers of those that are. */
  gone?: boolean;
  busy?: boolean;
  why?: string;
  held?: number[];
  /** There is no such frame or restart, or no form to evaluate again; there are so many FRAMES. */
  noFrame?: number;
  frames?: number;
  noRestart?: string;
  /** The names of the restarts that there are. */
  restarts?: string[];
  noForm?: boolean;
  /** The number of a frame, and whether it can be run AGAIN: else WHY says why not. NEAREST is one that can be. */
  frame?: number;
  again?: boolean;
  nearest?: number;
  /** The form that was evaluated can be evaluated again. */
  form?: boolean;
  call?: Frame;
  locals?: Local[];
  package?: string;
  /** A restart that TAKES other values. */
  restart?: string;
  takes?: string;
  /** A restart that did not leave. */
  returned?: string;
  /** The thread of the program goes on. */
  goesOn?: boolean;
}

export interface DebugData extends Remarks {
  /** What was evaluated has left the error, so that its call went on: the rest is the answer of that. */
  left?: boolean;
  value?: DebugValue | LookupFailure;
  /** The printed values of each form that was evaluated, and the number of the last. */
  values?: PrintedValue[][];
  formNumber?: number;
  unreadable?: Unreadable;
  /** What in files new definitions replaced. */
  replaced?: { name: string; method?: boolean; place: Place }[];
}

/** A thread as it is now. */
export interface ThreadData {
  thread?: string;
  frames?: Frame[];
  /** It did not tell its frames in time. */
  silent?: boolean;
  /** The lock that it waits for, and the thread that has it. */
  waitsFor?: { name: string; owner?: string };
  /** Names of threads, when none or several were meant: so many were FOUND. */
  threads?: string[];
  found?: number;
}

/** An error that was recorded when it was signalled. Times are in seconds. */
export interface WatchedError {
  time: number;
  thread: string;
  type: string;
  text: string;
  frames?: Frame[];
  moreFrames?: number;
}

export interface WatchedData {
  /** Where errors are recorded, while they are, and how many were seen since that began. */
  watching?: string;
  seen: number;
  now: number;
  error?: WatchedError;
  others?: { time: number; thread: string; type: string }[];
}

/** An object and its parts, or why it cannot be looked into. */
export interface InspectData {
  value?: string;
  type?: string;
  id?: string;
  total?: number;
  /** A part without a value says WHY it has none. */
  parts?: { name: string; value?: string; why?: string; id?: string }[] | string[];
  noValue?: boolean;
  /** An id whose object is gone. */
  goneId?: string;
  /** It is a form, which is not evaluated. */
  isForm?: boolean;
  /** The name of a function that there is not. */
  noFunction?: string;
  /** A part that is not IN an object. */
  noPart?: string;
  in?: string;
  why?: string;
}

/** What the server asks of errors that are held, of threads and of objects. */
export interface DebugOperations {
  'debug-list': { args: object; data: { value?: { held?: HeldRow[] } } };
  inspect: {
    args: { value: string; package?: string; path?: readonly string[]; offset: number; limit: number };
    data: { value?: InspectData | LookupFailure };
  };
  'debug-thread': { args: { name: string }; data: { value?: ThreadData } };
  'debug-watch': {
    args: { where?: string; type?: string; holdSeconds?: number; heldAbove?: number; off?: boolean };
    data: { value?: { where?: string; noType?: string; watched?: number } };
  };
  'debug-watched': { args: { index: number }; data: { value?: WatchedData } };
  'debug-look': { args: { error: number; frame?: number }; data: DebugData };
  'debug-eval': {
    args: { error: number; frame?: number; codes: readonly string[]; package?: string; keep?: boolean };
    data: DebugData;
  };
  'debug-fix': {
    args: { error: number; frame?: number; code: string; package?: string };
    data: DebugData;
  };
  'debug-go': {
    args: { error: number; frame?: number; restart?: string; retry?: boolean; end?: boolean };
    data: DebugData;
  };
}
