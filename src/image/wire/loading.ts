// Types of the agent's reports on loads.

import type { Agreement } from './agreement.ts';
import type { Remarks } from './data.ts';

export interface LoadFileData extends Remarks {
  /** The phase in which the load ended: 'load' when it succeeded. */
  phase?: 'compile' | 'load';
  value?: {
    file: string;
    failed?: boolean;
    /** True when the file could not be compiled to its end. */
    notLoaded?: boolean;
    /** True when the first forms of the file were loaded, although a later one could not be read. */
    begun?: boolean;
    agreement?: Agreement;
  };
  twins?: Twin[];
}

/** A system of which ASDF can find two definitions. Each such system is reported once. */
export interface Twin {
  name: string;
  /** The .asd file from which the system was loaded. */
  file: string;
  /** Another .asd file that defines a system of this name. */
  other: string;
}

export interface LoadFilesData extends Remarks {
  phase?: 'compile' | 'load';
  /** The file in which the load stopped. */
  file?: string;
  /** Results of the files that were loaded, in load order, up to the file in which the load stopped. */
  value?: NonNullable<LoadFileData['value']>[];
}

export interface LoadSystemData extends Remarks {
  value?: {
    system?: string;
    already?: boolean;
    /** True when no file was loaded. */
    unchanged?: boolean;
    loaded?: string[];
    /** Source files of the system that no longer exist. */
    gone?: string[];
    twins?: Twin[];
    agreement?: Agreement;
  } & Partial<MissingSystem>;
}

/** A system that ASDF does not find. */
export interface MissingSystem {
  missing: string;
  /** The requested system. */
  system?: string;
  /** The system that depends on the missing one, when this is not the requested system. */
  neededBy?: string;
  /** Names of systems that ASDF finds. */
  known?: string[];
  /** The .asd file in which ASDF looks for the system, and the systems that the file defines instead. */
  asd?: { file: string; systems?: string[] };
  /** Name of the library manager that the image uses. */
  manager?: string;
  /** Why the library manager could not be loaded. */
  managerFailure?: string;
  /** The form by which the library manager installs the missing system, if it can. */
  installing?: string;
  /** The user's init file, such as ~/.sbclrc, if it could set up more systems. Images do not load it. */
  initFile?: string;
}
