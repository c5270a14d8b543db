// Types of the operations on held errors, threads and objects.

import type { LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';
import type { Frame, Local } from './endings.ts';

/** A row in the list of held errors. */
export interface HeldRow {
  error: number;
  seconds: number;
  thread?: string;
  type: string;
}

/** Facts about a held error and its frames, or why a request about them was not performed. */
export interface DebugValue {
  /** The error is not held (GONE; WHY is the reason), or another call uses it (BUSY). HELD: numbers of held errors. */
  gone?: boolean;
  busy?: boolean;
  why?: string;
  held?: number[];
  /** There is no such frame (there are FRAMES), no such restart, or no form to evaluate again. */
  noFrame?: number;
  frames?: number;
  noRestart?: string;
  /** Names of the restarts that exist. */
  restarts?: string[];
  noForm?: boolean;
  /** Number of a frame. AGAIN: it can be run again, else WHY says why not. NEAREST: the nearest frame that can be. */
  frame?: number;
  again?: boolean;
  nearest?: number;
  /** True when the evaluated form can be evaluated again. */
  form?: boolean;
  call?: Frame;
  locals?: Local[];
  package?: string;
  /** Name of a restart that was called with too few arguments. */
  restart?: string;
  /** Lambda list of that restart. */
  takes?: string;
  /** A restart that returned, instead of transferring control. */
  returned?: string;
  /** True when the thread of the program goes on. */
  goesOn?: boolean;
}

export interface DebugData extends Remarks {
  /** The evaluated code made a non-local exit, so the held call went on. The other members are that call's answer. */
  left?: boolean;
  value?: DebugValue | LookupFailure;
  /** The printed values of each evaluated form, and the number of the last form. */
  values?: PrintedValue[][];
  formNumber?: number;
  unreadable?: Unreadable;
  /** Definitions from files that new definitions replaced. */
  replaced?: { name: string; method?: boolean; place: Place }[];
}

/** The current state of a thread. */
export interface ThreadData {
  thread?: string;
  frames?: Frame[];
  /** True when the thread did not report its frames in time. */
  silent?: boolean;
  /** The lock that the thread waits for, and the thread that owns it. */
  waitsFor?: { name: string; owner?: string };
  /** Names of threads, when the name fitted none or several: FOUND is how many. */
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
  /** Where errors are recorded now, if anywhere, and how many were seen since recording began. */
  watching?: string;
  seen: number;
  now: number;
  error?: WatchedError;
  others?: { time: number; thread: string; type: string }[];
}

/** An object and its parts, or why it cannot be inspected. */
export interface InspectData {
  value?: string;
  type?: string;
  id?: string;
  total?: number;
  /** For a part without a value, WHY is the reason. */
  parts?: { name: string; value?: string; why?: string; id?: string }[] | string[];
  noValue?: boolean;
  /** An id whose object no longer exists. */
  goneId?: string;
  /** True when the text is a form, which inspect does not evaluate. */
  isForm?: boolean;
  /** A name of a function that does not exist. */
  noFunction?: string;
  /** A part that does not exist in the object IN. */
  noPart?: string;
  in?: string;
  why?: string;
}

/** The operations on held errors, threads and objects. */
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
