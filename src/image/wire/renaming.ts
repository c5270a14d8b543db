// Decides what the agent tells of a symbol that is to get another name.

import type { Item } from './agreement.ts';

/** Why a symbol cannot have a name. In PACKAGE the name means SYMBOL already, which is another one, or names something of
 *  NATURES. Or the package is locked, or the symbol is a keyword. */
export interface NameConflict {
  kind: 'keyword' | 'locked' | 'other' | 'taken';
  package?: string;
  symbol?: string;
  natures?: string[];
}

/** One symbol and the name it is to get. */
export interface RenamingData {
  from: string;
  to: string;
  /** The packages in which the symbol is, and those that export it. */
  packages?: string[];
  exporters?: string[];
  /** Whether a symbol of the new name is there and names nothing. */
  unnamed?: boolean;
  conflicts?: NameConflict[];
}

/** A structure that has the name of the symbol, or a slot of that name. Functions are without their package. */
export interface StructureData {
  name: string;
  /** Each slot and its accessor. */
  slots?: [string, string][];
  constructors?: string[];
  /** Those of the constructors that take each slot by its keyword: they have no lambda list of their own. */
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
  /** What these forms define besides, under names that have its name in them. */
  made?: string[];
  structures?: StructureData[];
  /** Each class that takes an initarg of its name, with the classes below that, by bare names. */
  heirs?: string[][];
  renamings: RenamingData[];
  /** Each name of a package, and its proper name. */
  packageNames?: [string, string][];
  /** A package, a nickname that is local to it, and what that means. */
  localNicknames?: [string, string, string][];
  files?: string[];
}

/** What became of the old definitions. */
export interface RenameFinished {
  gone?: Item[];
  goneTotal?: number;
  left?: (Item & { because?: string[] })[];
}
