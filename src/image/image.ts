// Defines the interface of a Lisp image, which the server or somebody else runs.

import type { JournalNote, LossReport } from './recovery/report.ts';
import type { Jobs } from './session/jobs.ts';
import type { CallNotice } from './session/notices.ts';
import type { ImageStatus } from './session/status.ts';
import type { CallOptions, Reply } from './wire/call.ts';
import type { Lacking } from './wire/messages.ts';
import type { Operations } from './wire/operations.ts';
import type { Served } from './wire/served.ts';

/** An event that the next answer will report. */
export type ImageNotice =
  | CallNotice
  /** The image was lost, and another one has replaced it. */
  | { kind: 'loss'; report: LossReport }
  /** Several new images died soon after their start; `how` has the reason for each. So this image is plain: its backend
   * uses no internals of SBCL, and does not have the abilities in `lacking`. */
  | { kind: 'plain'; how: readonly string[]; lacking: Lacking }
  /** The connection to an image that somebody else runs broke for the reason `how`, and a new one was made. */
  | { kind: 'connected again'; how: string }
  /** Calls now run in `served`, an image that somebody else runs. If earlier calls ran in the image `before`, `how`
   * says why it is no longer used. `startFile` is the start file, which was not loaded there. */
  | { kind: 'attached'; served: Served; before?: Served; how: string; startFile?: string }
  /** The image `served` now accepts connections from servers, but calls still run in the server's own image.
   * `ownImageRequiredBy` is the server's flag that forbids the use of another image; undefined when there is none. */
  | { kind: 'unused'; served: Served; ownImageRequiredBy: string | undefined }
  /** The folder of images that servers can attach to cannot be used. `why` are sentences with the reason. */
  | { kind: 'not serving'; why: string }
  | JournalNote;

export interface Image {
  /** Performs the operation `name` with `args`, and resolves with the reply. Throws a SetupError when no image can be
   * started. */
  call<Name extends keyof Operations>(
    name: Name,
    args: Operations[Name]['args'],
    options?: CallOptions,
  ): Promise<Reply<Name>>;
  readonly jobs: Jobs;
  /** The symbols in *FEATURES*, as of the last answer; empty before the first answer. A keyword is given without its
   * colon, another symbol as PACKAGE::NAME. */
  readonly features: ReadonlySet<string>;
  /** Returns the state of the image. Never starts an image. If the image hangs, waits only briefly for its answer. */
  status(): Promise<ImageStatus>;
  /** Returns the notices since the last call of this function, the oldest first. */
  takeNotices(): ImageNotice[];
  readonly running: boolean;
  /** The systems and files that calls have loaded, each once, in the order of their first loads. Empty for an image
   * that somebody else runs. */
  readonly loads: { systems: string[]; files: string[] };
  /** True when somebody else runs the image. The server cannot restart or end such an image, and no sandbox confines
   * the code in it. */
  readonly isAttached: boolean;
  /** If no image runs, starts one in the background. If this fails, the next call reports the failure. */
  start(): void;
  /** Resolves when no image is being started, even if a start has failed. */
  whenStarted(): Promise<void>;
  /** Interrupts the running calls, so that their cleanup forms run. Then closes the image. */
  end(): Promise<void>;
  /** Ends the image. If somebody else runs it, ends only the connection to it. */
  close(): void;
}

/** The data that would be lost if the image ended. */
export interface Stake {
  /** Number of journal entries, the steps that built the image. */
  entries: number;
  /** True when the next image would be rebuilt from these entries. */
  replay: boolean;
  /** Names of variables whose values a rebuild would not restore. */
  values: readonly string[];
  calls: number;
}

/** The source from which a new image is rebuilt: 'session' means the journal of this session, 'none' means nothing, and
 * 'previous' means the journals of the previous server and of this session. */
export type RebuildFrom = 'session' | 'none' | 'previous';

/** An image that the server runs, and that it can therefore end and restart. */
export interface RestartableImage {
  /** The reason why the image cannot be restarted, and advice, as sentences; undefined when it can be restarted. */
  readonly restartRefusal: string | undefined;
  /** Ends the image and all its running calls, and starts another one, which is rebuilt from `rebuild`. Returns the
   * report of the loss. Throws a CallError when the journal that `rebuild` selects does not exist. */
  restart(rebuild: RebuildFrom): Promise<LossReport | undefined>;
  /** Resolves with true when the image has failed its last probe, and no call has succeeded since then. A probe tests
   * whether the image works. */
  isBroken(): Promise<boolean>;
  /** The data that would be lost if the image ended now. */
  readonly stake: Stake;
  /** The report of the last loss and rebuild; undefined before the first loss. */
  readonly lastLoss: LossReport | undefined;
}

/** Functions by which an image and the server exchange tools. */
export interface ImageTools {
  /** Returns the definitions of the built-in tools. They are sent to each new image. */
  offered(): object[];
  /** Registers the tool that `definition`, an unchecked value, describes, and returns its name for clients. `atStart`
   * is true for a tool from a start file. `registration` is the key by which the image finds the tool's handler. Throws
   * a CallError with the reason when the tool is refused. */
  register(definition: unknown, atStart: boolean, registration?: unknown): string;
  /** Removes all tools of the image. Called when the image has ended. */
  clear(): void;
}
