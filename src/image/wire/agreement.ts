// Types of the differences that the agent reports between the image and the loaded files.

/** A definition: a word for its kind, such as function, and its name with package prefixes. */
export interface Item {
  kind: string;
  name: string;
}

/** A definition in the image that its FILE no longer has. Without FILE, it was evaluated at TIME (seconds
 *  since 1970), by a form that begins with BY. */
export interface OldItem extends Item {
  file?: string;
  time?: number;
  by?: string;
}

/** A variable that is bound, and that a load did not set again. SAYS is the text of its value in the file, if
 *  the value there is a literal. */
export interface UnsetVariable {
  name: string;
  value: string;
  says?: string;
}

/** A class whose slots a load changed. INSTANCES of it, this many, get the new slots at their next use. */
export interface ReslottedClass {
  name: string;
  new?: string[];
  gone?: string[];
  instances?: number;
}

/** A changed definition that SBCL compiles into its callers, such as a macro. USERS are callers that were
 *  compiled with the old definition. */
export interface OutdatedUsers {
  name: string;
  kind: string;
  users: string[];
  total: number;
}

/** Differences between the image and the files of a load. Each list has a limited length; its total counts
 *  all items. */
export interface Agreement {
  /** The file of which the load was asked to remove what the file no longer has. */
  forgetting?: string;
  /** Methods, defined by the top-level form FORM of FILE, that replaced a method from the top-level form
   *  OTHER of the same file. */
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
  gone?: Item[];
  goneTotal?: number;
  /** Definitions that the file no longer has, but that were not removed, because something else needs
   *  them. */
  left?: (Item & { because?: string[] })[];
  leftTotal?: number;
}

/** A definition at the top-level form AT of FILE, for which the image has something else. The image has no
 *  such definition (MISSING), has one from the file OTHER, or has one that was evaluated at TIME by a form
 *  that begins with BY. */
export interface Difference extends Item {
  file: string;
  at?: number;
  missing?: boolean;
  other?: string;
  time?: number;
  by?: string;
}

/** A file on the disk that differs from its text at the last load, with the forms that differ, if known. */
export interface DiskDifference {
  file: string;
  how: 'gone' | 'changed' | 'unreadable';
  forms?: { head: string; how: 'new' | 'differs' | 'gone'; form?: number }[];
  formsTotal?: number;
}

/** Differences between the image and files. UNKNOWN: none of the files was loaded. EMPTY: the system has no
 *  files of its own, only the dependencies NEEDS. */
export interface ComparisonData
  extends Pick<Agreement, 'old' | 'oldTotal' | 'unset' | 'unsetTotal' | 'outdated' | 'outdatedTotal'> {
  unknown?: boolean;
  empty?: boolean;
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
