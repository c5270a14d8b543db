// Types of data that several operations return.

import type { OldItem } from './agreement.ts';
import type { Holding } from './holding.ts';

/** What a look-up did not find: a package or symbol (NEAR has similar names), a class (NATURES says what the
 *  symbol names instead), or a system. */
export type LookupFailure =
  | { failure: 'no-package'; package: string; near?: string[] }
  /** CURRENT is the session's package, if it has the symbol and the request named no package. NEAR is then
   *  absent. */
  | { failure: 'no-symbol'; package: string; symbol: string; current?: string; near?: string[] }
  | { failure: 'no-class'; class: string; natures?: string[] }
  | { failure: 'no-system'; system: string };

/** A place in a source file: a top-level form, given by its octet offset and its number, or a list within
 *  this form. */
export interface Place {
  file?: string;
  offset?: number;
  form?: number;
  /** Start and end of the list within the form, in characters from the start of the file as it was
   *  compiled. */
  start?: number;
  end?: number;
  /** The place is a list within the form, at an unknown position. */
  inside?: boolean;
  /** The file was written after it was compiled. */
  changed?: boolean;
  /** Write date (universal time) of the source file when it was compiled, if the file has changed since. */
  written?: number;
  /** The write date of the source file when it was compiled is not known. */
  undated?: boolean;
  method?: string;
  description?: string;
  /** Of what SBCL keeps no source: the file whose load made it. */
  maker?: string;
}

export interface Caller {
  /** Name of the caller; absent for a top-level form of a file. The server names such a caller by the text of the
   *  form. */
  name?: string;
  /** Kind of caller other than a function (S3.17); absent for a function. */
  kind?: string;
  /** The function of which this caller is another name. */
  same?: string;
  /** True when the caller only contains the name in its data, so that it may not be a call. */
  possible?: boolean;
  /** Operator of the form that is the caller, when the form is in no file. */
  operator?: string;
  /** Native namestring of the file with the top-level form. */
  file?: string;
  /** Number of the top-level form (0-based). */
  form?: number;
  /** True when the file has been written since it was compiled. */
  changed?: boolean;
  /** Symbols in the data of the top-level form as PACKAGE::NAME, including the symbol that it defines. */
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
  /** Start of the innermost form that the warning is about, in characters from the start of the file. */
  start?: number;
}

/** Data that every operation that runs user code returns besides its value. */
export interface Remarks extends Holding {
  warnings?: Warning[];
  warningCount?: number;
  /** How many of the warnings are compiler notes, and how many of these notes are about files. */
  noteCount?: number;
  fileNoteCount?: number;
  redefined?: string[];
  /** True when a file uses a package of a library manager, and no manager is set up. */
  withoutManager?: true;
  /** Methods that a load removed, because they do not fit the new lambda list of their generic function. */
  displaced?: OldItem[];
  displacedTotal?: number;
  package?: string;
  /** True when the session's readtable was replaced, because it could read no form any more. */
  freshReadtable?: boolean;
  /** Variables that make the session read or print differently from a fresh SBCL. Sent only when they have
   *  changed. */
  styles?: { name: string; value: string }[];
}

/** A value as ~S prints it. CUT: the text was too long. LENGTH: *PRINT-LENGTH* hid a part. In place of a
 *  value, OMITTED says how many further values did not fit. */
export interface PrintedValue {
  text?: string;
  omitted?: number;
  cut?: boolean;
  length?: number;
  /** The length of a string that was cut. */
  characters?: number;
  /** The number of digits of a number of which only the first and the last are shown. */
  digits?: number;
  /** True when numbers within the value are shown by their first and last digits. */
  shortened?: boolean;
  /** True when the value is printed with labels such as #1=, because a part of it contains itself. */
  circular?: boolean;
  /** Id under which the tool inspect finds a value that was not shown whole. */
  id?: string;
}

/** Text that the reader could not read: the reason (TEXT), NUMBER and start of the form, and where the reader
 *  stopped (atLine, atColumn). */
export interface Unreadable {
  text: string;
  near?: string[];
  /** True when the text names a package, or a symbol in a package, that does not exist. */
  missing?: true;
  /** True when the text uses a package of a library manager, and no manager is set up. */
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
  /** How many characters the job has written, and the end of the last line. */
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
  /** True when the system denied the process the CPU while a status request waited for its answer. */
  starved?: boolean;
}

/** Milliseconds that a job's thread has run, and has waited for a CPU. READY: the thread runs or waits for a
 *  CPU now. */
export interface JobCpuTimes {
  ran: number;
  waited: number;
  ready: boolean;
}
