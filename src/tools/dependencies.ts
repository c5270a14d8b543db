// Defines the objects that the built-in tools use.

import type { Intents } from '../files/intents.ts';
import type { Workspace } from '../files/workspace.ts';
import type { Image, RestartableImage } from '../image/image.ts';
import type { AuditLog } from '../records/audit-log.ts';
import type { Observations } from '../records/observations.ts';
import type { ReplHistory } from '../records/repl-history.ts';
import type { PendingEdits } from './buffer/buffers.ts';
import type { ChangeTurns } from './changing.ts';
import type { HeldToolCalls } from './debug/hold.ts';
import type { Places } from './places.ts';
import type { ShownWarnings } from './shown-warnings.ts';

/** The image, the workspace and the records with which tools work. */
export interface ToolDependencies {
  image: Image;
  /** The image, if this server started it and so can restart it; undefined when somebody else runs the image. */
  replaceable: RestartableImage | undefined;
  workspace: Workspace;
  places: Places;
  /** The calls whose threads wait at an error in the debugger. */
  holds: HeldToolCalls;
  log: AuditLog;
  history: ReplHistory;
  observations: Observations;
  /** The records of edits of several files. If a kill interrupts an edit, the next server uses them to undo it. */
  intents: Intents;
  turns: ChangeTurns;
  /** The edits that wait for approval. */
  pendingEdits: PendingEdits;
  /** Returns a sentence that says how code in the image is confined. Absent when this is unknown. */
  confinement?: () => string;
  shownWarnings: ShownWarnings;
  /** Calls a function with a fresh image; undefined when no fresh image can be started here. */
  withFreshImage: WithFresh | undefined;
  /** Writes the files of the commit `revision` to `folder`. git uses `scratch` for temporary files. Returns the short
   * name of the commit. Throws a CallError when this fails. */
  putRevision: (
    revision: string,
    into: { folder: string; scratch: string },
    signal?: AbortSignal,
  ) => Promise<string>;
  /** Maximum time, in milliseconds, for matching a pattern against one text; absent for the default. */
  matchMs?: number | undefined;
}

/** Starts a fresh image that writes its fasls to FOLDER, calls WORK with it, and ends the image. If ROOT, a folder in
 * FOLDER, is given, the image loads the systems of the workspace from ROOT. */
export type WithFresh = <Value>(
  folder: string,
  work: (fresh: ToolDependencies) => Promise<Value>,
  root?: string,
) => Promise<Value>;
