// Types of the agent's facts about a symbol that is to be renamed.

import type { Item } from './agreement.ts';

/** Why a symbol cannot get its new name. In PACKAGE, that name is another symbol (SYMBOL) or already names
 *  something (NATURES). Or the package is locked, or the symbol is a keyword. */
export interface NameConflict {
  kind: 'keyword' | 'locked' | 'other' | 'taken';
  package?: string;
  symbol?: string;
  natures?: string[];
}

/** A symbol and its new name. */
export interface RenamingData {
  from: string;
  to: string;
  /** The packages in which the symbol is accessible, and the packages that export it. */
  packages?: string[];
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
  places?: [string, number][];
  /** Other names that these forms define and that contain the name of the symbol. */
  made?: string[];
  structures?: StructureData[];
  /** For each class that takes an initarg of the symbol's name: the names of the class and of its subclasses,
   *  without package. */
  heirs?: string[][];
  renamings: RenamingData[];
  /** Pairs of a name of a package and its proper name. */
  packageNames?: [string, string][];
  /** Triples of a package, a package-local nickname in it, and the package that the nickname stands for. */
  localNicknames?: [string, string, string][];
  files?: string[];
}

/** What happened to the old definitions: removed (GONE), or kept for a reason (LEFT). */
export interface RenameFinished {
  gone?: Item[];
  goneTotal?: number;
  left?: (Item & { because?: string[] })[];
}
