// Decides what several operations give back in the same shape.

import type { OldItem } from './agreement.ts';
import type { Holding } from './holding.ts';

/** A package or symbol that is not there, with names NEAR it, or a symbol that names no class. */
export type LookupFailure =
  | { failure: 'no-package'; package: string; near?: string[] }
  /** CURRENT is the session's package when nobody named one and it has the symbol; then NEAR is not told. */
  | { failure: 'no-symbol'; package: string; symbol: string; current?: string; near?: string[] }
  | { failure: 'no-class'; class: string; natures?: string[] }
  | { failure: 'no-system'; system: string };

/** A place in a source file: a top-level form, by its offset in octets and its number, or a list in it. */
export interface Place {
  file?: string;
  offset?: number;
  form?: number;
  /** Where the list in that form begins and ends, in characters of the file as it was compiled. */
  start?: number;
  end?: number;
  /** A list in that form is meant, and it is not known where it is. */
  inside?: boolean;
  /** The file was written after it was compiled. */
  changed?: boolean;
  /** When it was written that was compiled, if that has changed: seconds, as Lisp counts. */
  written?: number;
  /** It is not known when it was written. */
  undated?: boolean;
  method?: string;
  description?: string;
}

export interface Caller {
  /** Absent for a form of a file, whose text has it. */
  name?: string;
  /** Absent for a function; else what else it is (S3.17). */
  kind?: string;
  /** Of which function it is another name. */
  same?: string;
  /** True when it only has the name among its data. */
  possible?: boolean;
  /** The operator of a form that no file has. */
  operator?: string;
  /** The native name of the file of a top-level form. */
  file?: string;
  /** The 0-based number of that form. */
  form?: number;
  /** Whether the file was written since. */
  changed?: boolean;
  /** Symbols among the data of that form, PACKAGE::NAME; what it defines is one. */
  names?: string[];
  sites?: Place[];
}

export interface Warning {
  severity: 'error' | 'warning' | 'undefined' | 'style-warning' | 'note';
  text: string;
  /** Names near one that is undefined. */
  near?: string[];
  form?: string;
  definition?: string;
  formNumber?: number;
  file?: string;
  /** Where the top-level form is, in octets of the file. */
  offset?: number;
  /** Where its own form begins, in characters of the file. */
  start?: number;
}

/** What every operation that runs code of the user tells besides its value. */
export interface Remarks extends Holding {
  warnings?: Warning[];
  warningCount?: number;
  /** How many of those are notes of the compiler, and how many of these are about files. */
  noteCount?: number;
  fileNoteCount?: number;
  redefined?: string[];
  /** Methods that a load took out, since they do not fit the lambda list that their generic function has now. */
  displaced?: OldItem[];
  displacedTotal?: number;
  package?: string;
  /** Whether the readtable of the session was replaced because it read no form any more. */
  freshReadtable?: boolean;
  /** Variables by which the session reads and prints otherwise than a fresh SBCL, when that is new. */
  styles?: { name: string; value: string }[];
}

/** A value as ~S prints it; CUT when that was too long, LENGTH when *PRINT-LENGTH* hid a part. Or how many
 *  values there was no room for. */
export interface PrintedValue {
  text?: string;
  omitted?: number;
  cut?: boolean;
  length?: number;
  /** By which inspect takes a value of which a part is hidden. */
  id?: string;
}

/** Text that the reader could not read: why, which form, where that begins, and where the reader stopped. */
export interface Unreadable {
  text: string;
  near?: string[];
  /** Whether a package or a symbol of one is not there. */
  missing?: true;
  /** Whether it names a package of library managers, and none is set up. */
  withoutManager?: true;
  number: number;
  line: number;
  column: number;
  atLine: number;
  atColumn: number;
}

/** What the agent tells of a job that runs. */
export interface Doing {
  /** How much it has written, and the end of the last line of that. */
  characters?: number;
  lastLine?: string;
  file?: string;
  /** For how long garbage was collected meanwhile. */
  collectedMilliseconds?: number;
}

/** What the system tells of the process of an image. */
export interface Outside {
  pid: number;
  uptimeMs: number;
  residentOctets?: number;
  /** Whether a signal has stopped it. */
  stopped?: boolean;
  /** Whether the system denied it the CPU while it was asked how it is, and did not say. */
  starved?: boolean;
}

/** What the thread of a job has done with its time, in milliseconds; READY when it runs or waits for a CPU now. */
export interface Spent {
  ran: number;
  waited: number;
  ready: boolean;
}
