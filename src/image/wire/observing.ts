// Decides what the operations that observe how a program runs take and give back.

import type { LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';

/** Why nothing could be observed. */
export interface ObserveRefusal {
  /** A name of no function, and what else it names. */
  noFunction?: string;
  natures?: string[];
  /** How many functions there are IN a package: none, or more than LIMIT. */
  packageFunctions?: number;
  in?: string;
  limit?: number;
  /** A form about arguments that cannot be compiled for the function NAME with those PARAMETERS, and WHY not. */
  where?: string;
  name?: string;
  why?: string;
  parameters?: string[];
  /** A function that came with SBCL. */
  builtIn?: string;
  /** Why the text IN cannot be read. */
  unreadable?: Unreadable;
  /** This SBCL has no profiler, or it is in use. */
  noProfiler?: boolean;
  busy?: boolean;
}

/** A function that is observed. */
export interface ObservedFunction {
  name: string;
  calls: number;
  /** Of so many calls one was recorded, when they were too many. */
  every?: number;
  /** Why some of its calls are not seen. */
  unseen?: 'inline' | 'compiler-macro' | 'block';
  /** It is no function any more. */
  gone?: boolean;
  /** For how many calls the condition on arguments signalled, and what. */
  failed?: number;
  failure?: string;
}

/** A recorded call, in a tree of DEPTH. It returned VALUES; or was LEFT by a throw, is RUNNING, or PASSED on to another by
 *  a tail call. */
export interface RecordedCall {
  depth: number;
  call: string;
  caller?: string;
  thread?: string;
  methods?: string[];
  milliseconds?: number;
  values?: string[];
  left?: boolean;
  running?: boolean;
  passed?: boolean;
  condition?: { type: string; text: string };
}

/** What was seen of a parameter or a value. */
export interface SeenPlace {
  name: string;
  types?: { type: string; count: number }[];
  least?: string;
  most?: string;
}

/** Which types the calls of a function had, which SBCL knows, and a declaration of what was seen. */
export interface SeenTypes {
  name: string;
  calls: number;
  parameters?: SeenPlace[];
  values?: SeenPlace[];
  declared?: boolean;
  type?: string;
  proposed?: string;
}

/** How calls differ from those that were recorded before: the first SAME ones are alike. */
export interface ComparedCalls {
  /** Nothing was recorded before. */
  none?: boolean;
  same?: number;
  calls?: number;
  callsBefore?: number;
  differs?: boolean;
  before?: string;
  now?: string;
}

export interface ObservedCalls {
  /** Those that were called most, and how many are observed. */
  functions?: ObservedFunction[];
  observed: number;
  /** Their calls. */
  calls: number;
  /** Calls that were recorded, and how many of them were kept. */
  total: number;
  kept: number;
  /** Few were kept because they filled the heap. */
  shrunk?: boolean;
  milliseconds: number;
  /** How many times as long it took because calls were recorded. */
  slower?: number;
  rows?: RecordedCall[];
  types?: SeenTypes[];
  compared?: ComparedCalls;
}

/** A function of a profile: parts of the samples in percent. */
export interface Spot {
  name: string;
  self: number;
  total: number;
  place?: Place;
  caller?: string;
  /** The part of its samples that this caller has, unless that is all. */
  callerPart?: number;
}

export interface Profile {
  /** Absent without a form: how often it ran, and what a run took. */
  runs?: number;
  milliseconds?: number;
  cpu?: number;
  octets?: number;
  /** What the run before these took, in milliseconds, of which no samples are. */
  first?: number;
  samples: number;
  /** No more samples could be taken. */
  full?: boolean;
  /** Most of what was allocated are large objects, of which each is one sample. */
  large?: boolean;
  spots?: Spot[];
  /** How many functions were running by themselves. */
  found: number;
}

/** What a form took, in milliseconds: the median and the quartiles. Each measure was of so many TIMES. */
export interface TakenTime {
  median: number;
  low: number;
  high: number;
  octets: number;
  times: number;
}

/** What two forms took in turn, in time of the CPU or of the clock. */
export interface ComparedTimes {
  rounds: number;
  cpu?: boolean;
  one: TakenTime;
  other: TakenTime;
}

interface Observed extends Remarks {
  values?: PrintedValue[][];
  value?: LookupFailure | ObserveRefusal;
}

/** What the server asks to observe how a program runs. */
export interface ObserveOperations {
  'observe-calls': {
    args: {
      functions: readonly string[];
      code?: string;
      seconds?: number;
      package?: string;
      where?: string;
      types?: boolean;
      limit: number;
      compare?: boolean;
    };
    data: Observed & { observed?: ObservedCalls };
  };
  'observe-profile': {
    args: { mode: string; code?: string; seconds: number; package?: string; top: number };
    data: Observed & { observed?: Profile };
  };
  'observe-times': {
    args: { code: string; against: string; seconds: number; package?: string };
    data: Observed & { compared?: ComparedTimes; same?: boolean; at?: 'form' | 'against' };
  };
}
