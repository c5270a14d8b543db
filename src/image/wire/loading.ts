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
    /** True when forms before were loaded all the same. */
    begun?: boolean;
    agreement?: Agreement;
  };
  twins?: Twin[];
}

/** A system that was loaded from FILE while ASDF can also find OTHER, of the same name. Each is reported once. */
export interface Twin {
  name: string;
  file: string;
  other: string;
}

export interface LoadFilesData extends Remarks {
  phase?: 'compile' | 'load';
  /** The file in which the load stopped. */
  file?: string;
  /** Results of the files that were loaded, in load order, up to FILE. */
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
  /** system: the requested system. neededBy: the system that needs the missing one, when that is not the
   *  requested one. */
  system?: string;
  neededBy?: string;
  /** Names of systems that ASDF finds. */
  known?: string[];
  /** The .asd file in which ASDF looks for the system, and the systems that the file defines instead. */
  asd?: { file: string; systems?: string[] };
  /** The library manager that the image uses. INSTALLING: the form by which this manager installs the system,
   *  if it can. */
  manager?: string;
  /** Why the library manager could not be loaded. */
  managerFailure?: string;
  installing?: string;
  /** The user's init file, such as ~/.sbclrc, if it could set up more systems. Images do not load it. */
  initFile?: string;
}
