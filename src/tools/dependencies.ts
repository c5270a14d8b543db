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
  /** Calls work with a fresh image; undefined when none can be started here. */
  withFreshImage: WithFresh | undefined;
  /** Puts the files of a commit below the first root into FOLDER, with SCRATCH for what git needs. Returns the short name
   *  of the commit. Throws a CallError when that cannot be done. */
  putRevision: (
    revision: string,
    into: { folder: string; scratch: string },
    signal?: AbortSignal,
  ) => Promise<string>;
  /** At most this many milliseconds are spent on matching a pattern against one text. Absent: the default. */
  matchMs?: number | undefined;
}

/** Calls WORK with the dependencies of tools over a fresh image that has its fasls in FOLDER, and ends that image. With ROOT,
 *  the image finds the systems of the workspace in this folder, which is in FOLDER, in place of its root. */
export type WithFresh = <Value>(
  folder: string,
  work: (fresh: ToolDependencies) => Promise<Value>,
  root?: string,
) => Promise<Value>;
