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
    loaded?: string[];
    /** The name, when ASDF has no such system; then KNOWN are those it has. */
    missing?: string;
    /** The system that needs it, when it is not the one that was asked for. */
    neededBy?: string;
    known?: string[];
    agreement?: Agreement;
  };
}
