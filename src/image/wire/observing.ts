// Types of the operations that observe how a program runs.

import type { LookupFailure, Place, PrintedValue, Remarks, Unreadable } from './data.ts';

/** Why a request to observe was refused. */
export interface ObserveRefusal {
  /** A name that is no function, and what it stands for (NATURES). */
  noFunction?: string;
  natures?: string[];
  /** Number of functions in the package IN, when this is 0 or more than LIMIT. */
  packageFunctions?: number;
  in?: string;
  limit?: number;
  /** WHERE is a form about arguments that does not compile for the function NAME with these PARAMETERS,
   *  because of WHY. */
  where?: string;
  name?: string;
  why?: string;
  parameters?: string[];
  /** Name of a function that belongs to SBCL. */
  builtIn?: string;
  /** Why the text cannot be read. IN says which text. */
  unreadable?: Unreadable;
  /** This SBCL has no profiler, or the profiler is in use. */
  noProfiler?: boolean;
  busy?: boolean;
}

/** An observed function. */
export interface ObservedFunction {
  name: string;
  calls: number;
  /** When there were too many calls, only one of this many was recorded. */
  every?: number;
  /** Why some calls of the function are not seen. */
  unseen?: 'inline' | 'compiler-macro' | 'block' | 'itself';
  /** The function's place, when its code does not name it: calls of it in its own source were compiled as jumps. */
  apart?: Place;
  /** True when the name is no longer a function. */
  gone?: boolean;
  /** For how many calls the form about arguments signalled an error, and the text of the condition. */
  failed?: number;
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
  /** The methods that it entered, in order; '...' is the last if it may have entered others. */
  methods?: string[];
  milliseconds?: number;
  /** The printed values that it returned. */
  values?: string[];
  /** A non-local exit (THROW, RETURN-FROM, GO) ended the call. */
  left?: boolean;
  /** The call still ran when the recording ended. */
  running?: boolean;
  /** A tail call replaced the frame of this call, so its return was not seen. */
  passed?: boolean;
  condition?: { type: string; text: string };
}

/** The types, and the least and greatest number, that were seen for one parameter or return value. */
export interface SeenPlace {
  name: string;
  types?: { type: string; count: number }[];
  least?: string;
  most?: string;
}

/** The types that were seen in the calls of a function, the TYPE that SBCL knows, and a declaration of the
 *  seen types (PROPOSED). */
export interface SeenTypes {
  name: string;
  calls: number;
  parameters?: SeenPlace[];
  values?: SeenPlace[];
  declared?: boolean;
  type?: string;
  proposed?: string;
}

/** How the recorded calls differ from those of the previous recording: the first SAME calls are equal. BEFORE
 *  and NOW are the first that differ. */
export interface ComparedCalls {
  /** True when there is no previous recording. */
  none?: boolean;
  same?: number;
  calls?: number;
  callsBefore?: number;
  differs?: boolean;
  before?: string;
  now?: string;
}

export interface ObservedCalls {
  /** The functions that were called most, and the number of all observed functions. */
  functions?: ObservedFunction[];
  observed: number;
  /** Number of calls of the observed functions. */
  calls: number;
  /** How many calls were recorded, and how many of these recorded calls were kept. */
  total: number;
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

/** A function in a profile. SELF and TOTAL are shares of all samples, in percent. */
export interface Spot {
  name: string;
  self: number;
  total: number;
  place?: Place;
  caller?: string;
  /** Percentage of the function's samples that came through CALLER; absent when all did. */
  callerPart?: number;
}

export interface Profile {
  /** How often the form ran, and the cost of one run; absent when the request has no form. */
  runs?: number;
  milliseconds?: number;
  cpu?: number;
  octets?: number;
  /** Milliseconds of the form's first run, which was not sampled. */
  first?: number;
  samples: number;
  /** True when the limit of samples was reached, so later samples are missing. */
  full?: boolean;
  /** True when the program mostly allocates large objects, each of which is a single sample. */
  large?: boolean;
  spots?: Spot[];
  /** Number of functions that were the innermost frame of a sample. */
  found: number;
}

/** Cost of one run of a form, in milliseconds (median and quartiles) and octets. TIMES: how many runs each
 *  measurement had. */
export interface TakenTime {
  median: number;
  low: number;
  high: number;
  octets: number;
  times: number;
}

/** Costs of two forms that ran alternately. CPU: the times are CPU time, else real time. */
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
