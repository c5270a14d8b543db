// Names the objects that the built-in tools depend on.

import type { Intents } from '../files/intents.ts';
import type { Workspace } from '../files/workspace.ts';
import type { Image, RestartableImage } from '../image/image.ts';
import type { AuditLog } from '../records/audit-log.ts';
import type { ReplHistory } from '../records/repl-history.ts';
import type { PendingEdits } from './buffer/buffers.ts';
import type { HeldToolCalls } from './debug/hold.ts';
import type { Places } from './places.ts';
import type { ShownWarnings } from './shown-warnings.ts';

/** The objects that tools depend on. */
export interface ToolDependencies {
  image: Image;
  /** The same image when this server runs it and can restart it; undefined when somebody else runs the
   *  image. */
  replaceable: RestartableImage | undefined;
  workspace: Workspace;
  places: Places;
  /** The calls that are held at an error. */
  holds: HeldToolCalls;
  log: AuditLog;
  history: ReplHistory;
  /** The records of edits of several files at once, for a rollback after a kill. */
  intents: Intents;
  /** Edits that wait for an approval. */
  pendingEdits: PendingEdits;
  /** Returns a sentence that says how code in the image is confined. Absent: unknown. */
  confinement?: () => string;
  /** The warnings that loads into the image have shown. */
  shownWarnings: ShownWarnings;
  /** Calls a function with a fresh image; undefined when this server can start none. */
  withFreshImage: WithFresh | undefined;
  /** Puts the files that the commit REVISION has below the first root into FOLDER. Git keeps its own files in
   *  SCRATCH. Returns the short name of the commit. Throws a CallError when that is impossible. */
  putRevision: (
    revision: string,
    into: { folder: string; scratch: string },
    signal?: AbortSignal,
  ) => Promise<string>;
  /** At most this many milliseconds are spent on matching a pattern against one text. Absent: the default. */
  matchMs?: number | undefined;
}

/** Starts a fresh image that keeps its fasls in FOLDER, calls WORK with tool dependencies that use this
 *  image, and ends the image. ROOT is a folder in FOLDER: if it is given, the image finds the systems of the
 *  workspace there and not in the workspace's root. */
export type WithFresh = <Value>(
  folder: string,
  work: (fresh: ToolDependencies) => Promise<Value>,
  root?: string,
) => Promise<Value>;
