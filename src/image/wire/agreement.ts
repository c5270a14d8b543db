// Types of the differences that the agent reports between the image and the loaded files.

/** A definition: a word for its kind, and its name with package prefixes. */
export interface Item {
  kind: string;
  name: string;
}

/** A definition in the image that FILE no longer has. Without FILE, it was evaluated at TIME (seconds since 1970); BY
 *  is the beginning of the form. */
export interface OldItem extends Item {
  file?: string;
  time?: number;
  by?: string;
}

/** A bound variable, which a load did not set again. SAYS is the text of its value in the file, if that is plain. */
export interface UnsetVariable {
  name: string;
  value: string;
  says?: string;
}

/** A class whose slots a load changed; INSTANCES get the new slots at their next use. */
export interface ReslottedClass {
  name: string;
  new?: string[];
  gone?: string[];
  instances?: number;
}

/** A changed definition that is compiled into its callers, such as a macro, and callers compiled with the old one. */
export interface OutdatedUsers {
  name: string;
  kind: string;
  users: string[];
  total: number;
}

/** Differences between the image and the files of a load. Each list is bounded; its total counts all. */
export interface Agreement {
  /** Methods at the top-level form FORM of FILE that replaced a method at the form OTHER. */
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
  /** Definitions that were not removed, because something else needs them. */
  left?: (Item & { because?: string[] })[];
  leftTotal?: number;
}

/** A definition in FILE, at the top-level form AT, that differs in the image. The image lacks it (MISSING), has it from
 *  the file OTHER, or has it from an evaluation at TIME, whose form begins with BY. */
export interface Difference extends Item {
  file: string;
  at?: number;
  missing?: boolean;
  other?: string;
  time?: number;
  by?: string;
}

/** A file on the disk that differs from what was loaded, with the forms that differ, if known. */
export interface DiskDifference {
  file: string;
  how: 'gone' | 'changed' | 'unreadable';
  forms?: { head: string; how: 'new' | 'differs' | 'gone'; form?: number }[];
  formsTotal?: number;
}

/** Differences between the image and files. UNKNOWN: none of the files was loaded. EMPTY: the system has no files;
 *  NEEDS are its dependencies. */
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
