// Types of the differences that the agent reports between the image and the loaded files.

/** A definition. */
export interface Item {
  /** A word for the kind of definition, such as function. */
  kind: string;
  /** The name, with package prefixes. */
  name: string;
}

/** A definition that was removed. */
export interface GoneItem extends Item {
  /** Texts for definitions that still use the removed function. */
  users?: string[];
  /** Top-level forms that use it. */
  usedAt?: UsedAt[];
  /** The number of all such users. */
  usersTotal?: number;
}

/** A top-level form of a file that uses something. */
interface UsedAt {
  file: string;
  /** The number of the form in the file. */
  form: number;
}

/** A definition that was not removed. */
export interface LeftItem extends Item {
  /** Texts for definitions and data that need it. */
  because?: string[];
  /** Top-level forms that need it. */
  usedAt?: UsedAt[];
  /** Files that have another definition of it, which this one has replaced. */
  definedIn?: string[];
}

/** A definition in the image that its file no longer has, or that was evaluated and is in no file. */
export interface OldItem extends Item {
  /** The file that had the definition; absent when it was evaluated. */
  file?: string;
  /** When the definition was evaluated, in seconds since 1970. */
  time?: number;
  /** The beginning of the form that was evaluated. */
  by?: string;
}

/** A variable that was bound already, so that a load of the form that defines it, such as a DEFVAR, did not
 *  set it. */
export interface UnsetVariable {
  name: string;
  /** The value of the variable in the image, as printed. */
  value: string;
  /** The value that the file gives to the variable, if it is a literal there. */
  says?: string;
}

/** A class whose slots a load changed. */
export interface ReslottedClass {
  name: string;
  /** Names of the slots that the class did not have before. */
  new?: string[];
  /** Names of the slots that the class no longer has. */
  gone?: string[];
  /** Number of existing instances. Each gets the new slots when it is used next. */
  instances?: number;
}

/** A changed definition that SBCL compiles into its callers, such as a macro. */
export interface OutdatedUsers {
  name: string;
  kind: string;
  /** Names of callers that were compiled with the old definition. */
  users: string[];
  /** Number of all such callers. */
  total: number;
}

/** Differences between the image and the files of a load. Each list has a limited length. Its total, such as
 *  `oldTotal` for `old`, counts all items. */
export interface Agreement {
  /** The loaded file, if the load was asked to remove definitions that the file no longer has. */
  forgetting?: string;
  /** Methods that a file defines twice: its top-level form number `form` replaced the method of its top-level
   *  form number `other`. */
  doubles?: (Item & { file: string; form?: number; other?: number })[];
  doublesTotal?: number;
  old?: OldItem[];
  oldTotal?: number;
  unset?: UnsetVariable[];
  unsetTotal?: number;
  reslotted?: ReslottedClass[];
  reslottedTotal?: number;
  outdated?: OutdatedUsers[];
  outdatedTotal?: number;
  /** Definitions that were removed from the image because the file no longer has them. */
  gone?: GoneItem[];
  goneTotal?: number;
  /** Definitions that the file no longer has, but that were not removed. */
  left?: LeftItem[];
  leftTotal?: number;
}

/** A definition in a file for which the image has another definition or none. */
export interface Difference extends Item {
  file: string;
  /** Number of the top-level form in the file. */
  at?: number;
  /** True when the image has no such definition. */
  missing?: boolean;
  /** The file from which the image has the definition instead. */
  other?: string;
  /** When the image's definition was evaluated instead, in seconds since 1970. */
  time?: number;
  /** The beginning of the form that was evaluated instead. */
  by?: string;
}

/** A file on the disk that differs from its text at the last load, with the forms that differ, if these are
 *  known. */
export interface DiskDifference {
  file: string;
  how: 'gone' | 'changed' | 'unreadable';
  forms?: { head: string; how: 'new' | 'differs' | 'gone'; form?: number }[];
  formsTotal?: number;
}

/** Differences between the image and files that a request names. */
export interface ComparisonData
  extends Pick<Agreement, 'old' | 'oldTotal' | 'unset' | 'unsetTotal' | 'outdated' | 'outdatedTotal'> {
  /** True when none of the files was loaded. */
  unknown?: boolean;
  /** True when the system has no files of its own, only dependencies. */
  empty?: boolean;
  /** These dependencies. */
  needs?: string[];
  files?: number;
  /** Files whose last load did not end well. */
  unfinished?: string[];
  /** Files of the system that were not loaded. */
  unloaded?: string[];
  differing?: Difference[];
  differingTotal?: number;
  disk?: DiskDifference[];
  diskTotal?: number;
}
