// Types of the operations that observe how a program runs.

import type { LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';

/** Why nothing could be observed. */
export interface ObserveRefusal {
  /** A name of no function, and what else it names. */
  noFunction?: string;
  natures?: string[];
  /** Number of functions in the package IN: none, or more than LIMIT. */
  packageFunctions?: number;
  in?: string;
  limit?: number;
  /** A form about arguments that could not be compiled for the function NAME with PARAMETERS, and WHY not. */
  where?: string;
  name?: string;
  why?: string;
  parameters?: string[];
  /** A function that came with SBCL. */
  builtIn?: string;
  /** Why the text IN cannot be read. */
  unreadable?: Unreadable;
  /** This SBCL has no profiler, or the profiler is in use. */
  noProfiler?: boolean;
  busy?: boolean;
}

/** An observed function. */
export interface ObservedFunction {
  name: string;
  calls: number;
  /** One of this many calls was recorded, when there were too many. */
  every?: number;
  /** Why some of its calls are not seen. */
  unseen?: 'inline' | 'compiler-macro' | 'block';
  /** True when the name is no function any more. */
  gone?: boolean;
  /** For how many calls the form about arguments signalled, and which condition. */
  failed?: number;
  failure?: string;
}

/** A recorded call. Exactly one of `values`, `left`, `running` and `passed` says how it ended. */
export interface RecordedCall {
  /** Its depth in the tree of recorded calls. */
  depth: number;
  call: string;
  caller?: string;
  thread?: string;
  methods?: string[];
  milliseconds?: number;
  /** The printed values that it returned. */
  values?: string[];
  /** A non-local exit (THROW, RETURN-FROM, GO) ended the call. */
  left?: boolean;
  /** The call had not ended when the recording did. */
  running?: boolean;
  /** A tail call replaced the frame of this call, so its return was not seen. */
  passed?: boolean;
  condition?: { type: string; text: string };
}

/** Types and range of a parameter or a value, as seen in calls. */
export interface SeenPlace {
  name: string;
  types?: { type: string; count: number }[];
  least?: string;
  most?: string;
}

/** Types seen in the calls of a function; the type that SBCL knows; and a declaration of the seen types. */
export interface SeenTypes {
  name: string;
  calls: number;
  parameters?: SeenPlace[];
  values?: SeenPlace[];
  declared?: boolean;
  type?: string;
  proposed?: string;
}

/** How calls differ from those recorded before: the first SAME calls are equal. */
export interface ComparedCalls {
  /** True when nothing was recorded before. */
  none?: boolean;
  same?: number;
  calls?: number;
  callsBefore?: number;
  differs?: boolean;
  before?: string;
  now?: string;
}

export interface ObservedCalls {
  /** The functions called most, and how many are observed. */
  functions?: ObservedFunction[];
  observed: number;
  /** Number of their calls. */
  calls: number;
  /** How many calls were recorded, and how many of these were kept. */
  total: number;
  kept: number;
  /** True when few calls were kept because they filled the heap. */
  shrunk?: boolean;
  milliseconds: number;
  /** Factor by which recording slowed the run. */
  slower?: number;
  rows?: RecordedCall[];
  types?: SeenTypes[];
  compared?: ComparedCalls;
}

/** A function in a profile; SELF and TOTAL are its shares of the samples in percent. */
export interface Spot {
  name: string;
  self: number;
  total: number;
  place?: Place;
  caller?: string;
  /** CALLER's share of the function's samples, unless it has them all. */
  callerPart?: number;
}

export interface Profile {
  /** How often the form ran, and the cost of a run; absent without a form. */
  runs?: number;
  milliseconds?: number;
  cpu?: number;
  octets?: number;
  /** Milliseconds of an earlier first run, which was not sampled. */
  first?: number;
  samples: number;
  /** True when no more samples could be taken. */
  full?: boolean;
  /** True when most allocation is of large objects, each of which is a single sample. */
  large?: boolean;
  spots?: Spot[];
  /** Number of functions that were at the top of a sampled stack. */
  found: number;
}

/** Cost of a form in milliseconds: median and quartiles. Each measurement ran it TIMES times. */
export interface TakenTime {
  median: number;
  low: number;
  high: number;
  octets: number;
  times: number;
}

/** Costs of two forms that ran in turn, in CPU time or real time. */
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

/** The operations that observe how a program runs. */
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
