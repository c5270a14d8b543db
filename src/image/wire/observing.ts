// Types of the operations that observe how a program runs.

import type { LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';

/** Why a request to observe was refused. */
export interface ObserveRefusal {
  /** A requested name that names no function. */
  noFunction?: string;
  /** What this name names instead. */
  natures?: string[];
  /** Number of functions in the requested package, when it has none or too many. */
  packageFunctions?: number;
  /** Name of this package, or which of the request's texts cannot be read. */
  in?: string;
  /** Maximum number of functions that can be observed at once. */
  limit?: number;
  /** The requested condition on the arguments of calls, a form, when it does not compile. */
  where?: string;
  /** Name of the function for which the form does not compile. */
  name?: string;
  /** Why the form does not compile. */
  why?: string;
  /** The parameters of the function, which the form can use. */
  parameters?: string[];
  /** The requested function, when it belongs to SBCL. */
  builtIn?: string;
  /** Why a text of the request cannot be read. */
  unreadable?: Unreadable;
  /** True when this SBCL has no profiler. */
  noProfiler?: boolean;
  /** True when the profiler is in use already. */
  busy?: boolean;
}

/** An observed function. */
export interface ObservedFunction {
  name: string;
  calls: number;
  /** Only one of this many calls was recorded, because there were too many. */
  every?: number;
  /** Why some calls of the function are not seen. */
  unseen?: 'inline' | 'compiler-macro' | 'block' | 'itself';
  /** The function's place, when calls of the function in its own source are not seen, because they were
   *  compiled as jumps. */
  apart?: Place;
  /** True when the name is no longer a function. */
  gone?: boolean;
  /** For how many calls the form that tests the arguments signalled an error. */
  failed?: number;
  /** The text of such an error. */
  failure?: string;
}

/** A recorded call. Exactly one of the members `values`, `left`, `running` and `passed` says how the call
 *  ended. */
export interface RecordedCall {
  /** Depth of the call in the tree of recorded calls. */
  depth: number;
  call: string;
  caller?: string;
  thread?: string;
  /** The methods that the call of a generic function entered, in order. The last element is '...' if the call
   *  may have entered others. */
  methods?: string[];
  milliseconds?: number;
  /** The values that the call returned, as printed. */
  values?: string[];
  /** True when a non-local exit (THROW, RETURN-FROM, GO) ended the call. */
  left?: boolean;
  /** True when the call still ran at the end of the recording. */
  running?: boolean;
  /** True when a tail call replaced the frame of this call, so that its return was not seen. */
  passed?: boolean;
  condition?: { type: string; text: string };
}

/** What was seen of one parameter or return value. */
export interface SeenPlace {
  name: string;
  /** The types of the values, and how many values were of each type. */
  types?: { type: string; count: number }[];
  /** The least number. */
  least?: string;
  /** The greatest number. */
  most?: string;
}

/** The types of the arguments and the return values that were seen in the calls of a function. */
export interface SeenTypes {
  name: string;
  calls: number;
  parameters?: SeenPlace[];
  values?: SeenPlace[];
  declared?: boolean;
  /** The type of the function as SBCL knows it. */
  type?: string;
  /** A `(declaim (ftype ...))` form as text, with the types of the recorded arguments and values. */
  proposed?: string;
}

/** How the recorded calls differ from the calls of the previous recording. */
export interface ComparedCalls {
  /** True when there is no previous recording. */
  none?: boolean;
  /** How many calls, from the first on, are equal in both recordings. */
  same?: number;
  /** Number of calls in this recording. */
  calls?: number;
  /** Number of calls in the previous recording. */
  callsBefore?: number;
  differs?: boolean;
  /** The first call that differs, as the previous recording has it. */
  before?: string;
  /** The first call that differs, as this recording has it. */
  now?: string;
}

export interface ObservedCalls {
  /** The observed functions that were called most often. */
  functions?: ObservedFunction[];
  /** Number of all observed functions. */
  observed: number;
  /** Number of calls of the observed functions. */
  calls: number;
  /** How many of these calls were recorded. */
  total: number;
  /** How many of the recorded calls were kept. */
  kept: number;
  /** True when few calls were kept, because more would have filled the heap. */
  shrunk?: boolean;
  milliseconds: number;
  /** Factor by which the recording slowed the program. */
  slower?: number;
  rows?: RecordedCall[];
  types?: SeenTypes[];
  compared?: ComparedCalls;
}

/** A function in a profile. */
export interface Spot {
  name: string;
  /** Percentage of all samples in which the function was the innermost frame. */
  self: number;
  /** Percentage of all samples in which the function was on the stack. */
  total: number;
  place?: Place;
  /** Name of the caller in most samples of the function. */
  caller?: string;
  /** Percentage of the function's samples that have this caller; absent when all have it. */
  callerPart?: number;
}

export interface Profile {
  /** How often the form ran. This member and the next four are absent when the request has no form. */
  runs?: number;
  /** Milliseconds of real time that one run took. */
  milliseconds?: number;
  /** Milliseconds of CPU time that one run took. */
  cpu?: number;
  /** Octets that one run allocated. */
  octets?: number;
  /** Milliseconds that the form's first run took, which was not sampled. */
  first?: number;
  samples: number;
  /** True when the limit of samples was reached, so later samples are missing. */
  full?: boolean;
  /** True when most of the memory went to large objects, for each of which the profiler takes only one
   *  sample. */
  large?: boolean;
  spots?: Spot[];
  /** Number of functions that were the innermost frame of a sample. */
  found: number;
}

/** The cost of one run of a form. */
export interface TakenTime {
  /** Median of the measured times, in milliseconds. */
  median: number;
  /** Lower quartile, in milliseconds. */
  low: number;
  /** Upper quartile, in milliseconds. */
  high: number;
  /** Octets that one run allocated. */
  octets: number;
  /** How many runs were measured together. */
  times: number;
}

/** The costs of two forms that ran alternately. */
export interface ComparedTimes {
  rounds: number;
  /** True when the times are CPU time; else they are real time. */
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
