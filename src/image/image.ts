// Defines the interface of a Lisp image. It is the same for an image that the server runs and for one that
// somebody else runs.

import type { JournalNote, LossReport } from './recovery/report.ts';
import type { Jobs } from './session/jobs.ts';
import type { CallNotice } from './session/notices.ts';
import type { ImageStatus } from './session/status.ts';
import type { CallOptions, Reply } from './wire/call.ts';
import type { Lacking } from './wire/messages.ts';
import type { Operations } from './wire/operations.ts';
import type { Served } from './wire/served.ts';

/** An event since the last answer that the next answer reports. */
export type ImageNotice =
  | CallNotice
  /** The image was lost, and another has taken its place. */
  | { kind: 'loss'; report: LossReport }
  /** Several new images died soon after their start; `how` says how each ended. So this image is plain: its
   *  agent uses no internals of SBCL, and lacks the abilities that `lacking` names. */
  | { kind: 'plain'; how: readonly string[]; lacking: Lacking }
  /** The connection to an image that somebody else runs broke, for the reason `how`, and was made again. */
  | { kind: 'connected again'; how: string }
  /** From now on, calls run in the image `served`, which somebody else runs. `before` is the image in which
   *  calls ran until now, if any, and `how` the reason why that one is gone. `startFile` is the start file
   *  that was not loaded in `served`. */
  | { kind: 'attached'; served: Served; before?: Served; how: string; startFile?: string }
  /** The image `served` became ready to be attached to, but calls stay in the server's own image, which they
   *  already use. `keptOwnBy` is the flag, if given, that rules out any other image. */
  | { kind: 'unused'; served: Served; keptOwnBy: string | undefined }
  /** The folder of images that serve cannot be used, as the sentences `why` say. */
  | { kind: 'not serving'; why: string }
  | JournalNote;

export interface Image {
  /** Performs the operation NAME with ARGS. Throws a SetupError when no image can be started. */
  call<Name extends keyof Operations>(
    name: Name,
    args: Operations[Name]['args'],
    options?: CallOptions,
  ): Promise<Reply<Name>>;
  /** The calls that are running or waiting. */
  readonly jobs: Jobs;
  /** The symbols in *FEATURES* as of the last answer; #+ and #- select forms by these. A keyword is written
   *  without its colon, any other symbol as PACKAGE::NAME. Empty before the first answer. */
  readonly features: ReadonlySet<string>;
  /** Returns the state of the image. Waits only briefly for an image that hangs. Never starts an image. */
  status(): Promise<ImageStatus>;
  /** Returns the notices since the last answer, oldest first, and forgets them. */
  takeNotices(): ImageNotice[];
  /** True when an image is there or is being started. */
  readonly running: boolean;
  /** The systems and the files that calls have loaded, each once, in the order of their first loads; none in
   *  an image that somebody else runs. */
  readonly loads: { systems: string[]; files: string[] };
  /** True when somebody else runs the image. The server neither restarts nor ends such an image, and no
   *  sandbox confines its code. */
  readonly isAttached: boolean;
  /** Starts the image in the background if it does not run. A failure is reported by the next call. */
  start(): void;
  /** Resolves when no image is being started: its start files have loaded, or the start has failed. */
  whenStarted(): Promise<void>;
  /** Interrupts the running calls, so that their cleanup forms run, and closes the image soon. */
  end(): Promise<void>;
  /** Ends the image, or only the connection when somebody else runs it. */
  close(): void;
}

/** The things that the end of the image would lose. */
export interface Stake {
  /** Number of journal entries that built the image. */
  entries: number;
  /** True when these entries would be rebuilt in the next image. */
  replay: boolean;
  /** Names of variables whose values no rebuild restores. */
  values: readonly string[];
  /** Number of running and waiting calls. */
  calls: number;
}

/** The source from which a new image is rebuilt: the journal of this session, nothing, or the journal of the
 *  previous server followed by the journal of this session. */
export type RebuildFrom = 'session' | 'none' | 'previous';

/** An image that the server itself runs, so it can end and restart it. */
export interface RestartableImage {
  /** Sentences that say why there is no restart, and what to do; undefined when the image can be
   *  restarted. */
  readonly restartRefusal: string | undefined;
  /** Ends the image with all running calls, and starts another one, built from REBUILD. Returns the report of
   *  the loss. Throws a CallError when the journal that REBUILD names does not exist. */
  restart(rebuild: RebuildFrom): Promise<LossReport | undefined>;
  /** Resolves to true when the image failed its last probe, a test of whether it works, and no call has ended
   *  well since. */
  isBroken(): Promise<boolean>;
  /** The things that would be lost if the image ended now. */
  readonly stake: Stake;
  /** Report of the last loss and its rebuild; undefined before the first loss. */
  readonly lastLoss: LossReport | undefined;
}

/** The functions by which an image and the server exchange tools. */
export interface ImageTools {
  /** Returns the definitions of the built-in tools, which every new image gets. */
  offered(): object[];
  /** Registers the tool that DEFINITION, an unchecked value, describes. Returns the name by which clients
   *  call it. AT_START is true when a start file defined the tool. REGISTRATION is the key by which the image
   *  finds the tool's handler. Throws a CallError, with the reason, when the tool is refused. */
  register(definition: unknown, atStart: boolean, registration?: unknown): string;
  /** Removes all tools of the image, because the image is gone. */
  clear(): void;
}
