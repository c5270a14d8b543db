// Types of the operations on held errors, threads and objects.

import type { LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';
import type { Frame, Local } from './endings.ts';

/** A row of the list of held errors. */
export interface HeldRow {
  error: number;
  seconds: number;
  thread?: string;
  type: string;
}

/** Facts about a held error and its frames, or the reason why a request about them failed. */
export interface DebugValue {
  /** GONE: the error is not held (any more), because of WHY. BUSY: another call uses the error. HELD: numbers
   *  of the errors that are held. */
  gone?: boolean;
  busy?: boolean;
  why?: string;
  held?: number[];
  /** NO_FRAME: the requested frame does not exist; FRAMES frames can be shown. NO_RESTART: the requested
   *  restart does not exist. NO_FORM: there is no form to evaluate again. */
  noFrame?: number;
  frames?: number;
  noRestart?: string;
  /** Names of the restarts that exist. */
  restarts?: string[];
  noForm?: boolean;
  /** Number of a frame. AGAIN: the frame can be run again; if not, WHY is the reason. NEAREST: number of the
   *  nearest frame that can. */
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
  /** Name of a restart that returned, instead of transferring control. */
  returned?: string;
  /** True when the thread of the program that had the error continues. */
  goesOn?: boolean;
}

export interface DebugData extends Remarks {
  /** The evaluated code made a non-local exit, so the call that the error had stopped continued. The other
   *  members are the answer of the held call. */
  left?: boolean;
  value?: DebugValue | LookupFailure;
  /** The printed values of each evaluated form, and the number of the form that was evaluated last. */
  values?: PrintedValue[][];
  formNumber?: number;
  unreadable?: Unreadable;
  /** Definitions from files that the new definitions replaced. */
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
  /** Names of threads, when the given name fits none or several. FOUND: how many it fits. */
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
  /** The place where errors are recorded now, if any, and how many were signalled there since recording
   *  began. */
  watching?: string;
  seen: number;
  now: number;
  error?: WatchedError;
  others?: { time: number; thread: string; type: string }[];
}

/** An object and its parts, or the reason why it cannot be inspected. */
export interface InspectData {
  value?: string;
  type?: string;
  id?: string;
  total?: number;
  /** A part without a value has WHY, the reason. */
  parts?: { name: string; value?: string; why?: string; id?: string }[] | string[];
  noValue?: boolean;
  /** An id of an object that no longer exists. */
  goneId?: string;
  /** True when the text is a form, which inspect does not evaluate. */
  isForm?: boolean;
  /** The given name of a function, when there is no such function. */
  noFunction?: string;
  /** The given part, when the object IN has no such part. */
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
