// Types of the agent's facts about a symbol that is to be renamed.

import type { Item, LeftItem } from './agreement.ts';
import type { Place } from './data.ts';

/** Why a symbol cannot get its new name. */
export interface NameConflict {
  /** `keyword`: the symbol is a keyword. `locked`: its home package is locked. `other`: the new name is
   *  another symbol in a package in which the symbol is accessible. `taken`: the new name already has a
   *  definition, such as a function or a variable. */
  kind: 'keyword' | 'locked' | 'other' | 'taken';
  /** The package of the conflict. */
  package?: string;
  /** The symbol that has the new name in this package. */
  symbol?: string;
  /** What this symbol names. */
  natures?: string[];
}

/** A symbol and its new name. */
export interface RenamingData {
  from: string;
  to: string;
  /** The packages in which the symbol is accessible. */
  packages?: string[];
  /** The packages that export the symbol. */
  exporters?: string[];
  /** True when a symbol with the new name exists but names nothing. */
  unnamed?: boolean;
  conflicts?: NameConflict[];
}

/** A structure that the symbol names, or that has a slot of this name. Function names stand without their
 *  package. */
export interface StructureData {
  name: string;
  /** Pairs of a slot and its accessor. */
  slots?: [string, string][];
  constructors?: string[];
  /** Constructors without a lambda list of their own, which take each slot as a keyword argument. */
  takingSlots?: string[];
  predicate?: string;
  copier?: string;
}

export interface RenameFacts {
  name: string;
  home: string;
  natures?: string[];
  /** File and number of each top-level form that defines the symbol. */
  places?: Place[];
  /** Other names that these forms define, such as MAKE-POINT for POINT, and that contain the symbol's
   *  name. */
  made?: string[];
  structures?: StructureData[];
  /** For each class that takes an initarg of the symbol's name: the names, without package, of the class and
   *  of its subclasses. */
  heirs?: string[][];
  renamings: RenamingData[];
  /** Pairs of a name of a package and its proper name. */
  packageNames?: [string, string][];
  /** Triples of a package, a package-local nickname in it, and the package that the nickname stands for. */
  localNicknames?: [string, string, string][];
  files?: string[];
}

/** What happened to the definitions of the old symbols. */
export interface RenameFinished {
  /** Definitions that were removed. */
  gone?: Item[];
  /** Number of all removed definitions. */
  goneTotal?: number;
  /** Definitions that were not removed. */
  left?: LeftItem[];
}
