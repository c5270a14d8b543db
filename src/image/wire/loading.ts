// Decides what the image tells of a load.

import type { Agreement } from './agreement.ts';
import type { Remarks } from './data.ts';

export interface LoadFileData extends Remarks {
  /** What it was at when it ended. */
  phase?: 'compile' | 'load';
  value?: { file: string; failed?: boolean; notLoaded?: boolean; agreement?: Agreement };
}

export interface LoadFilesData extends Remarks {
  phase?: 'compile' | 'load';
  /** The file at which it was left. */
  file?: string;
  /** What became of each file until then, in the order in which they were loaded. */
  value?: NonNullable<LoadFileData['value']>[];
}

export interface LoadSystemData extends Remarks {
  value?: {
    system?: string;
    already?: boolean;
    /** Whether no file was loaded. */
    unchanged?: boolean;
    loaded?: string[];
    /** Source files of the system that are not there any more. */
    gone?: string[];
    /** Those that were loaded from FILE while ASDF can also find an OTHER of the name; each is told once. */
    twins?: { name: string; file: string; other: string }[];
    agreement?: Agreement;
  } & Partial<MissingSystem>;
}

/** A system that ASDF does not find. */
export interface MissingSystem {
  missing: string;
  /** The system that was asked for, and the one that needs the missing one, when it is not the one that was asked for. */
  system?: string;
  neededBy?: string;
  /** Systems that ASDF has. */
  known?: string[];
  /** The .asd file in which ASDF looks for it, and which systems that defines instead. */
  asd?: { file: string; systems?: string[] };
  /** The library manager that the image uses, and the form by which that installs what is missing, where it can. */
  manager?: string;
  /** Why that could not be loaded. */
  managerFailure?: string;
  installing?: string;
  /** What the user calls the init file that images do not load, where it can have more systems. */
  initFile?: string;
}
