// Names the objects that the built-in tools depend on.

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

/** The image, the workspace and the records that tools work with. */
export interface ToolDependencies {
  image: Image;
  /** The same image when this server started it and can restart it; undefined when somebody else runs the
   * image. */
  replaceable: RestartableImage | undefined;
  workspace: Workspace;
  places: Places;
  /** Calls that wait at an error, in the debugger. */
  holds: HeldToolCalls;
  log: AuditLog;
  history: ReplHistory;
  observations: Observations;
  /** Records of edits of several files. The next start uses them to undo an edit that a kill interrupted. */
  intents: Intents;
  turns: ChangeTurns;
  /** Edits that wait for an approval. */
  pendingEdits: PendingEdits;
  /** Returns a sentence on how code in the image is confined. Absent: unknown. */
  confinement?: () => string;
  shownWarnings: ShownWarnings;
  /** Runs work with a fresh image; undefined when none can be started here. */
  withFreshImage: WithFresh | undefined;
  /** Writes the files of the commit `revision` below `folder`, with `scratch` for temporary files of git.
   * Returns the short name of the commit. Throws a CallError on failure. */
  putRevision: (
    revision: string,
    into: { folder: string; scratch: string },
    signal?: AbortSignal,
  ) => Promise<string>;
  /** Maximum time in milliseconds for matching a pattern against one text. Absent: the default. */
  matchMs?: number | undefined;
}

/** Starts a fresh image that writes its fasls to FOLDER, calls WORK with it, and ends it. With ROOT, the
 * image finds the systems of the workspace in ROOT, a folder below FOLDER. */
export type WithFresh = <Value>(
  folder: string,
  work: (fresh: ToolDependencies) => Promise<Value>,
  root?: string,
) => Promise<Value>;
