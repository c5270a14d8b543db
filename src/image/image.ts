// Defines what the rest of the program can ask of a Lisp image, of whichever kind.

import type { JournalNote, LossReport } from './recovery/report.ts';
import type { Jobs } from './session/jobs.ts';
import type { CallNotice } from './session/notices.ts';
import type { ImageStatus } from './session/status.ts';
import type { CallOptions, Reply } from './wire/call.ts';
import type { Lacking } from './wire/messages.ts';
import type { Operations } from './wire/operations.ts';

/** An event since the last answer that the next answer reports. */
export type Notice =
  | CallNotice
  /** The image was lost, and another has taken its place. */
  | { kind: 'loss'; report: LossReport }
  /** Several new images died soon after their start (HOW: how each ended), so this image is plain: it runs
   *  without the abilities in LACKING, which need internals of SBCL. */
  | { kind: 'plain'; how: readonly string[]; lacking: Lacking }
  /** The connection to an image that somebody else runs broke (HOW: the reason), and was made again. */
  | { kind: 'connected again'; how: string }
  | JournalNote;

export interface Image {
  /** Performs the operation NAME with ARGS. Throws a SetupError when no image can be had. */
  call<Name extends keyof Operations>(
    name: Name,
    args: Operations[Name]['args'],
    options?: CallOptions,
  ): Promise<Reply<Name>>;
  /** The calls that are running or waiting. */
  readonly jobs: Jobs;
  /** Names in *FEATURES* as of the last answer, which #+ and #- in files test. A keyword stands without its
   *  colon, any other symbol as PACKAGE::NAME. Empty before the first answer. */
  readonly features: ReadonlySet<string>;
  /** Returns the state of the image soon, even when it hangs. Never starts an image. */
  status(): Promise<ImageStatus>;
  /** Returns the notices since the last answer, oldest first, and forgets them. */
  takeNotices(): Notice[];
  /** True when an image is there or is being started. */
  readonly running: boolean;
  /** Starts the image in the background if it does not run. A failure is reported by the next call. */
  start(): void;
  /** Resolves when no image is being started: its start files have loaded, or the start has failed. */
  started(): Promise<void>;
  /** Interrupts the running calls, so that their cleanup forms run, and closes the image soon. */
  end(): Promise<void>;
  /** Ends the image, or only the connection when somebody else runs it. */
  close(): void;
}

/** What would be lost with the image: the number of its journal entries, whether they would be rebuilt
 *  (REPLAY), the variables that were set (VALUES), and the number of running calls. */
export interface Stake {
  entries: number;
  replay: boolean;
  values: readonly string[];
  calls: number;
}

/** The source for building a new image: the journal of this session, nothing, or also the journal of the
 *  previous server. */
export type RebuildFrom = 'session' | 'none' | 'previous';

/** An image that the server itself runs, so it can end and restart it. */
export interface Replaceable {
  /** Ends the image with all running calls, and starts another, built from REBUILD. Returns the report of the loss.
   *  Throws a CallError when there is nothing to build from. */
  restart(rebuild: RebuildFrom): Promise<LossReport | undefined>;
  /** Resolves to true when the last probe failed and no call has ended well since. */
  isBroken(): Promise<boolean>;
  /** What would be lost if the image ended now. */
  readonly stake: Stake;
  /** Report of the last loss and its rebuild; undefined before the first loss. */
  readonly lastLoss: LossReport | undefined;
}

/** The functions by which an image and the server exchange tools. */
export interface ImageTools {
  /** Returns the definitions of the built-in tools, which every new image gets. */
  offered(): object[];
  /** Registers the tool that DEFINITION (an unchecked value) describes, and returns its name for clients. AT_START: a
   *  start file registered it. REGISTRATION: the image's key of the handler. Throws a CallError with the reason of a
   *  refusal. */
  register(definition: unknown, atStart: boolean, registration?: unknown): string;
  /** Removes all tools of the image, because the image is gone. */
  clear(): void;
}
