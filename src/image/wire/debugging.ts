// Types of the operations on held errors (their threads are stopped for debugging), threads and objects.

import type { LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';
import type { Frame, Local } from './endings.ts';

/** A row of the list of held errors. */
export interface HeldRow {
  error: number;
  seconds: number;
  thread?: string;
  /** The server that holds it, when that is another server of the same image. */
  heldBy?: string;
  type: string;
}

/** What is known of a held error and its frames, or the reason why a request about them failed. */
export interface DebugValue {
  /** True when the error is not held, or no longer. */
  gone?: boolean;
  /** True when another call uses the error. */
  busy?: boolean;
  /** The server that holds the error, when that is another server of the same image. */
  heldBy?: string;
  /** Why the error is not held, or why the frame cannot be run again. */
  why?: string;
  /** Numbers of the errors that are held. */
  held?: number[];
  /** The requested frame, when it does not exist. */
  noFrame?: number;
  /** How many frames can be shown. */
  frames?: number;
  /** The requested restart, when it does not exist. */
  noRestart?: string;
  /** Names of the restarts that exist. */
  restarts?: string[];
  /** True when there is no form to evaluate again. */
  noForm?: boolean;
  /** Number of the frame that the request is about. */
  frame?: number;
  /** True when this frame can be run again. */
  again?: boolean;
  /** Number of the nearest frame that can be run again. */
  nearest?: number;
  /** True when the evaluated form can be evaluated again. */
  form?: boolean;
  call?: Frame;
  locals?: Local[];
  package?: string;
  /** Name of a restart that was called with too few arguments. */
  restart?: string;
  /** Lambda list of `restart`, the restart that was called with too few arguments. */
  takes?: string;
  /** Name of a restart whose function returned, although restarts should make a non-local exit. */
  returned?: string;
  /** True when the thread that had the error, a thread of the program, now continues. */
  goesOn?: boolean;
}

export interface DebugData extends Remarks {
  /** True when the evaluated code made a non-local exit, so that the call which the error had stopped
   *  continued. The other members are then the answer of that call. */
  left?: boolean;
  value?: DebugValue | LookupFailure;
  /** The printed values of each evaluated form. */
  values?: PrintedValue[][];
  /** Number of the form that was evaluated last. */
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
  /** Names of threads, when the requested name fits no thread or several. */
  threads?: string[];
  /** How many threads the requested name fits. */
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
  /** Which errors are recorded now: all, or those of the threads or the package with this name. Absent when
   *  none are recorded. */
  watching?: string;
  /** How many such errors were signalled since the recording began. */
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
  /** The parts of the object. `why` says why a part has no `value`: for example, its slot is unbound. */
  parts?: { name: string; value?: string; why?: string; id?: string }[] | string[];
  noValue?: boolean;
  /** The requested id, when its object no longer exists. */
  goneId?: string;
  /** The requested id, when only answers to other servers of the image had it. */
  foreignId?: string;
  /** True when the text is a form, which inspect does not evaluate. */
  isForm?: boolean;
  /** The requested name of a function, when there is no such function. */
  noFunction?: string;
  /** The requested part, when the object has no such part. */
  noPart?: string;
  /** This object, as printed. */
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
    data: { value?: { where?: string; unknown?: boolean; noType?: string; watched?: number } };
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
