// Decides what the agent tells of where the image and the files that were loaded differ.

/** A definition as it is told: a word for its kind, and its name with packages. */
export interface Item {
  kind: string;
  name: string;
}

/** What is in the image and no longer in FILE. Without a file it was evaluated at TIME, in seconds since 1970, BY a form
 *  that begins so. */
export interface OldItem extends Item {
  file?: string;
  time?: number;
  by?: string;
}

/** A variable that a load did not set again, because it was bound, and the text of its value in the file, if plain. */
export interface UnsetVariable {
  name: string;
  value: string;
  says?: string;
}

/** A class that a load gave other slots, and how many INSTANCES get them when they are used next. */
export interface ReslottedClass {
  name: string;
  new?: string[];
  gone?: string[];
  instances?: number;
}

/** What has changed and is compiled into its users, such as a macro, and who was compiled with it before. */
export interface OutdatedUsers {
  name: string;
  kind: string;
  users: string[];
  total: number;
}

/** Where the image and the files of a load differ. Each list is bounded, with how many there are. */
export interface Agreement {
  /** Methods, at the top-level form FORM of FILE, that took the place of one at the form OTHER. */
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
  /** What was taken out of the image because the file no longer defines it. */
  gone?: Item[];
  goneTotal?: number;
  /** What was not, because something else needs it. */
  left?: (Item & { because?: string[] })[];
  leftTotal?: number;
}

/** What the image has in another way than FILE defines it, at the top-level form AT. It is MISSING, or from the file
 *  OTHER, or was evaluated at TIME, BY a form that begins so. */
export interface Difference extends Item {
  file: string;
  at?: number;
  missing?: boolean;
  other?: string;
  time?: number;
  by?: string;
}

/** How a file on the disk is another than what was loaded: which forms, when that can be told. */
export interface DiskDifference {
  file: string;
  how: 'gone' | 'changed' | 'unreadable';
  forms?: { head: string; how: 'new' | 'differs' | 'gone'; form?: number }[];
  formsTotal?: number;
}

/** Where the image and files differ; UNKNOWN when none of them was loaded. Of a system that is EMPTY, without files, it is
 *  what that NEEDS. */
export interface ComparisonData
  extends Pick<Agreement, 'old' | 'oldTotal' | 'unset' | 'unsetTotal' | 'outdated' | 'outdatedTotal'> {
  unknown?: boolean;
  empty?: boolean;
  needs?: string[];
  files?: number;
  /** Files of which the last load did not end well. */
  unfinished?: string[];
  /** Files of the system that were not loaded. */
  unloaded?: string[];
  differing?: Difference[];
  differingTotal?: number;
  disk?: DiskDifference[];
  diskTotal?: number;
}
