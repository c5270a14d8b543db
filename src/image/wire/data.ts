// Types of data that several operations return.

import type { OldItem } from './agreement.ts';
import type { Holding } from './holding.ts';

/** A missing package or symbol, with NEAR (similar names); a symbol that names no class; or a missing system. */
export type LookupFailure =
  | { failure: 'no-package'; package: string; near?: string[] }
  /** CURRENT is the session's package, if the symbol is there and no package was named; then NEAR is absent. */
  | { failure: 'no-symbol'; package: string; symbol: string; current?: string; near?: string[] }
  | { failure: 'no-class'; class: string; natures?: string[] }
  | { failure: 'no-system'; system: string };

/** A place in a source file: a top-level form, by its octet offset and its number, or a list in that form. */
export interface Place {
  file?: string;
  offset?: number;
  form?: number;
  /** Start and end of the list in that form, in characters of the file as it was compiled. */
  start?: number;
  end?: number;
  /** The place is a list in that form, whose position is not known. */
  inside?: boolean;
  /** The file was written after it was compiled. */
  changed?: boolean;
  /** Write date (universal time) of the source file as it was compiled, if the file has changed since. */
  written?: number;
  /** The write date of the source file at its compilation is not known. */
  undated?: boolean;
  method?: string;
  description?: string;
}

export interface Caller {
  /** Absent for a form of a file, whose text the server reads. */
  name?: string;
  /** Kind of caller other than a function (S3.17); absent for a function. */
  kind?: string;
  /** The function of which this caller is another name. */
  same?: string;
  /** True when the caller's data merely contain the name. */
  possible?: boolean;
  /** Operator of a form that is in no file. */
  operator?: string;
  /** Native name of the file with the top-level form. */
  file?: string;
  /** Number of the top-level form (0-based). */
  form?: number;
  /** True when the file has been written since it was compiled. */
  changed?: boolean;
  /** Symbols in the data of that form as PACKAGE::NAME, including the one that it defines. */
  names?: string[];
  sites?: Place[];
}

export interface Warning {
  severity: 'error' | 'warning' | 'undefined' | 'style-warning' | 'note';
  text: string;
  /** Names similar to an undefined name. */
  near?: string[];
  form?: string;
  definition?: string;
  formNumber?: number;
  file?: string;
  /** Octet offset of the top-level form in the file. */
  offset?: number;
  /** Start of the innermost form, in characters of the file. */
  start?: number;
}

/** Data that every operation which runs user code returns besides its value. */
export interface Remarks extends Holding {
  warnings?: Warning[];
  warningCount?: number;
  /** How many of the warnings are compiler notes, and how many of these notes are about files. */
  noteCount?: number;
  fileNoteCount?: number;
  redefined?: string[];
  /** True when a file names a package of a library manager, and none is set up. */
  withoutManager?: true;
  /** Methods that a load removed, since they do not fit the new lambda list of their generic function. */
  displaced?: OldItem[];
  displacedTotal?: number;
  package?: string;
  /** True when the session's readtable was replaced, because it could read no form any more. */
  freshReadtable?: boolean;
  /** Variables that make the session read or print differently from a fresh SBCL, when this is new. */
  styles?: { name: string; value: string }[];
}

/** A value as ~S prints it. CUT: the text was too long. LENGTH: *PRINT-LENGTH* hid a part. Or OMITTED: how many values
 *  did not fit. */
export interface PrintedValue {
  text?: string;
  omitted?: number;
  cut?: boolean;
  length?: number;
  /** Id by which inspect takes a value that was not shown whole. */
  id?: string;
}

/** Text that the reader could not read: the reason, number and start of the form, and where the reader stopped. */
export interface Unreadable {
  text: string;
  near?: string[];
  /** True when a package, or a symbol in one, does not exist. */
  missing?: true;
  /** True when the text names a package of a library manager, and none is set up. */
  withoutManager?: true;
  /** The user's init file, when it was not loaded and may define the missing name. Named once in an image. */
  initFile?: string;
  number: number;
  line: number;
  column: number;
  atLine: number;
  atColumn: number;
}

/** State of a running job, from the agent. */
export interface JobProgress {
  /** How many characters the job has written, and the end of their last line. */
  characters?: number;
  lastLine?: string;
  file?: string;
  /** Milliseconds of garbage collection while the job ran. */
  collectedMilliseconds?: number;
}

/** What the operating system knows of an image's process. */
export interface Outside {
  pid: number;
  uptimeMs: number;
  residentOctets?: number;
  /** True when a signal has stopped the process. */
  stopped?: boolean;
  /** True when the process was denied the CPU while it was asked for its status and did not answer. */
  starved?: boolean;
}

/** Milliseconds that a job's thread ran and waited for a CPU. READY: it runs or waits for a CPU now. */
export interface JobCpuTimes {
  ran: number;
  waited: number;
  ready: boolean;
}
