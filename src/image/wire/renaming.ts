// Types of the agent's facts on a symbol that is to be renamed.

import type { Item } from './agreement.ts';

/** Why a symbol cannot get a name. In PACKAGE, the name already means another SYMBOL, or names something (NATURES). Or
 *  the package is locked, or the symbol is a keyword. */
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
  /** The packages in which the symbol is accessible, and those that export it. */
  packages?: string[];
  exporters?: string[];
  /** True when a symbol of the new name exists and names nothing. */
  unnamed?: boolean;
  conflicts?: NameConflict[];
}

/** A structure named by the symbol, or with a slot of that name. Names of functions are without their package. */
export interface StructureData {
  name: string;
  /** Each slot and its accessor. */
  slots?: [string, string][];
  constructors?: string[];
  /** Constructors that take each slot by its keyword: they have no lambda list of their own. */
  takingSlots?: string[];
  predicate?: string;
  copier?: string;
}

export interface RenameFacts {
  name: string;
  home: string;
  natures?: string[];
  /** Files and numbers of the top-level forms that define it. */
  places?: [string, number][];
  /** Further names that these forms define and that contain the symbol's name. */
  made?: string[];
  structures?: StructureData[];
  /** For each class that takes an initarg of the symbol's name: the names of it and its subclasses, without package. */
  heirs?: string[][];
  renamings: RenamingData[];
  /** Each name of a package, with its proper name. */
  packageNames?: [string, string][];
  /** A package, a package-local nickname in it, and the package that the nickname means. */
  localNicknames?: [string, string, string][];
  files?: string[];
}

/** What was done with the old definitions. */
export interface RenameFinished {
  gone?: Item[];
  goneTotal?: number;
  left?: (Item & { because?: string[] })[];
}
