// Types of data that several operations return.

import type { OldItem } from './agreement.ts';
import type { Holding } from './holding.ts';

/** What a look-up did not find. */
export type LookupFailure =
  /** There is no such package. `near` has similar names. */
  | { failure: 'no-package'; package: string; near?: string[] }
  /** The package has no such symbol. `near` has similar names. If the request named no package and the
   *  session's package has the symbol, `current` is this package instead. */
  | { failure: 'no-symbol'; package: string; symbol: string; current?: string; near?: string[] }
  /** The symbol names no class. `natures` says what it names instead. */
  | { failure: 'no-class'; class: string; natures?: string[] }
  | { failure: 'no-system'; system: string };

/** A place in a source file: a top-level form, or a list within this form. `offset` is the octet at which the
 *  top-level form begins, `form` its number in the file, counted from 0. */
export interface Place {
  file?: string;
  offset?: number;
  form?: number;
  /** Start and end of the list within the form, in characters from the start of the file as it was
   *  compiled. */
  start?: number;
  end?: number;
  /** True when the place is a list within the form, at an unknown position. */
  inside?: boolean;
  /** True when the file has been written since it was compiled. */
  changed?: boolean;
  /** Write date (universal time) of the source file when it was compiled, if the file has changed since. */
  written?: number;
  /** The mark of the text that was loaded, if the image has kept it: the digest of its octets, unless its forms
   *  can be others under the present features. */
  mark?: string;
  /** The mark of the text that was loaded last, if it is another one. */
  latest?: string;
  /** True when it is not known which version of the source file was compiled. */
  undated?: boolean;
  method?: string;
  description?: string;
  /** The file whose load made the method, when SBCL keeps no source of it. */
  maker?: string;
}

/** A text that the image has loaded, with a character for each octet, and the features under which it was read.
 *  `text` is absent when the server has it, and both are when it is no longer kept. */
export interface LoadedText {
  text?: string;
  features?: string[];
}

export interface Caller extends Pick<Place, 'file' | 'form' | 'changed' | 'written' | 'undated'> {
  /** Name of the caller; absent for a top-level form of a file, which the server names by its text. */
  name?: string;
  /** Kind of a caller that is no function (contract S3.17); absent for a function. */
  kind?: string;
  /** Name of the function of which this caller is an alias. */
  same?: string;
  /** True when the caller only contains the name in its data, so that it may never call the function. */
  possible?: boolean;
  /** Operator of the form that is the caller, when the form is in no file. */
  operator?: string;
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
  /** How many of the warnings are compiler notes. */
  noteCount?: number;
  /** How many of these compiler notes are about files. */
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

/** A printed value; or, in its place, the number of further values that were left out. */
export interface PrintedValue {
  /** The value as ~S prints it. */
  text?: string;
  /** How many further values were left out. */
  omitted?: number;
  /** True when the text was too long, so its end is missing. */
  cut?: boolean;
  /** The value of *PRINT-LENGTH*, if it hid a part of the value. */
  length?: number;
  /** The length of a string that was cut. */
  characters?: number;
  /** How many digits a number has, when only its first and its last digits are shown. */
  digits?: number;
  /** True when only the first and the last digits of some numbers within the value are shown. */
  shortened?: boolean;
  /** True when the value is printed with labels such as #1=, because a part of it contains itself. */
  circular?: boolean;
  /** Id under which the tool inspect finds a value that was not shown whole. */
  id?: string;
}

/** A form that the reader could not read: its number in the text, the position of its start (`line`,
 *  `column`), and the position where the reader stopped (`atLine`, `atColumn`). */
export interface Unreadable {
  /** Why the form could not be read. */
  text: string;
  near?: string[];
  /** True when the text names a package, or a symbol in a package, that does not exist. */
  missing?: true;
  /** True when the text uses a package of a library manager, and no manager is set up. */
  withoutManager?: true;
  /** The user's init file, when it was not loaded and may define the missing name. Sent once per image. */
  initFile?: string;
  number: number;
  line: number;
  column: number;
  atLine: number;
  atColumn: number;
}

/** State of a running job, from the agent. */
export interface JobProgress {
  /** How many characters the job has written. */
  characters?: number;
  /** The end of the last line that the job has written. */
  lastLine?: string;
  /** The file that the job compiles or loads now. */
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

/** How a job's thread has spent its time. */
export interface JobCpuTimes {
  /** Milliseconds for which the thread has run. */
  ran: number;
  /** Milliseconds for which the thread has waited for a CPU. */
  waited: number;
  /** True when the thread runs or waits for a CPU now. */
  ready: boolean;
}
