// Defines the interface of a Lisp image, whether the server or somebody else runs it.

import type { JournalNote, LossReport } from './recovery/report.ts';
import type { Jobs } from './session/jobs.ts';
import type { CallNotice } from './session/notices.ts';
import type { ImageStatus } from './session/status.ts';
import type { CallOptions, Reply } from './wire/call.ts';
import type { Lacking } from './wire/messages.ts';
import type { Operations } from './wire/operations.ts';
import type { Served } from './wire/served.ts';

/** An event since the last answer, for a report in the next answer. */
export type ImageNotice =
  | CallNotice
  /** The image was lost, and another one replaces it. */
  | { kind: 'loss'; report: LossReport }
  /** Several new images died soon after their start, as `how` says of each. This image is plain: its agent
   *  uses no internals of SBCL, and does not have the abilities in `lacking`. */
  | { kind: 'plain'; how: readonly string[]; lacking: Lacking }
  /** The connection to an image that somebody else runs broke for the reason `how`, and was made again. */
  | { kind: 'connected again'; how: string }
  /** Calls run in the image `served` of somebody else. If earlier calls ran in the image `before`, `how` says
   *  why it went away. `startFile` is the start file that was not loaded there. */
  | { kind: 'attached'; served: Served; before?: Served; how: string; startFile?: string }
  /** Servers can now attach to the image `served`, but calls stay in the server's own image. `ownImageRequiredBy` is
   *  the flag, if given, that rules out any other image. */
  | { kind: 'unused'; served: Served; ownImageRequiredBy: string | undefined }
  /** The folder of images cannot be used. `why` are sentences with the reason. */
  | { kind: 'not serving'; why: string }
  | JournalNote;

export interface Image {
  /** Performs the operation `name` with `args`. Throws a SetupError when no image can be started. */
  call<Name extends keyof Operations>(
    name: Name,
    args: Operations[Name]['args'],
    options?: CallOptions,
  ): Promise<Reply<Name>>;
  readonly jobs: Jobs;
  /** The symbols in *FEATURES* as of the last answer; empty before. A keyword is written without its colon,
   *  any other symbol as PACKAGE::NAME. */
  readonly features: ReadonlySet<string>;
  /** Returns the state of the image. Never starts an image, and waits only briefly for one that hangs. */
  status(): Promise<ImageStatus>;
  /** Returns the notices since the last answer, oldest first, and forgets them. */
  takeNotices(): ImageNotice[];
  readonly running: boolean;
  /** The systems and files loaded by calls, without duplicates, in the order of their first loads. Empty for
   *  an image that somebody else runs. */
  readonly loads: { systems: string[]; files: string[] };
  /** True when somebody else runs the image. The server cannot restart or end such an image, and no sandbox
   *  confines its code. */
  readonly isAttached: boolean;
  /** Starts the image in the background if none runs. The next call reports a failure. */
  start(): void;
  /** Resolves when no image is being started, also after a failed start. */
  whenStarted(): Promise<void>;
  /** Interrupts the running calls, so that their cleanup forms run, and then closes the image. */
  end(): Promise<void>;
  /** Ends the image, or only the connection when somebody else runs it. */
  close(): void;
}

/** The state that would be lost with the image. */
export interface Stake {
  /** Number of journal entries that built the image. */
  entries: number;
  /** True when these entries would be rebuilt in the next image. */
  replay: boolean;
  /** Names of variables whose values a rebuild does not restore. */
  values: readonly string[];
  calls: number;
}

/** The source of a new image: the journal of this session, nothing, or the journals of the previous server
 *  and this session. */
export type RebuildFrom = 'session' | 'none' | 'previous';

/** An image that the server runs, and so can end and restart. */
export interface RestartableImage {
  /** The reason against a restart, and advice, as sentences; undefined when the image can be restarted. */
  readonly restartRefusal: string | undefined;
  /** Ends the image with all running calls, and starts another one from `rebuild`. Returns the report of the
   *  loss. Throws a CallError when the journal for `rebuild` does not exist. */
  restart(rebuild: RebuildFrom): Promise<LossReport | undefined>;
  /** Resolves to true when the image failed its last probe (a test that it works), and no call has succeeded
   *  since. */
  isBroken(): Promise<boolean>;
  /** The things that would be lost if the image ended now. */
  readonly stake: Stake;
  /** Report of the latest loss and rebuild; undefined before the first loss. */
  readonly lastLoss: LossReport | undefined;
}

/** Functions to exchange tools between an image and the server. */
export interface ImageTools {
  /** Returns the definitions of the built-in tools, for every new image. */
  offered(): object[];
  /** Registers the tool in `definition`, an unchecked value, and returns its name for clients. `atStart` is
   *  true for a tool from a start file. The image finds the tool's handler by `registration`. Throws a
   *  CallError, with the reason, when the tool is refused. */
  register(definition: unknown, atStart: boolean, registration?: unknown): string;
  /** Removes all tools of the image after its end. */
  clear(): void;
}
