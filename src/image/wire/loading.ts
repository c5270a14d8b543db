// Types of the agent's reports on loads.

import type { Agreement } from './agreement.ts';
import type { Remarks } from './data.ts';

export interface LoadFileData extends Remarks {
  /** The phase in which the load ended. */
  phase?: 'compile' | 'load';
  value?: { file: string; failed?: boolean; notLoaded?: boolean; agreement?: Agreement };
}

export interface LoadFilesData extends Remarks {
  phase?: 'compile' | 'load';
  /** The file in which the load stopped. */
  file?: string;
  /** Results of the files up to that file, in load order. */
  value?: NonNullable<LoadFileData['value']>[];
}

export interface LoadSystemData extends Remarks {
  value?: {
    system?: string;
    already?: boolean;
    /** True when no file was loaded. */
    unchanged?: boolean;
    loaded?: string[];
    /** Source files of the system that are not there any more. */
    gone?: string[];
    /** Systems that were loaded from FILE while ASDF can also find OTHER, of the same name. Each is reported once. */
    twins?: { name: string; file: string; other: string }[];
    agreement?: Agreement;
  } & Partial<MissingSystem>;
}

/** A system that ASDF does not find. */
export interface MissingSystem {
  missing: string;
  /** The requested system, and the system that needs the missing one, if it is not the requested one. */
  system?: string;
  neededBy?: string;
  /** Systems that ASDF has. */
  known?: string[];
  /** The .asd file in which ASDF looks for it, and which systems that file defines instead. */
  asd?: { file: string; systems?: string[] };
  /** The library manager that the image uses. INSTALLING: the form by which it installs the system, where it can. */
  manager?: string;
  /** Why the library manager could not be loaded. */
  managerFailure?: string;
  installing?: string;
  /** The user's init file, such as ~/.sbclrc, if it could set up more systems (images do not load it). */
  initFile?: string;
}
