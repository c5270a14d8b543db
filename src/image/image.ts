// Decides what the rest of the program can ask of a Lisp image, whichever kind it is.

import type { JournalNote, LossReport } from './recovery/report.ts';
import type { Jobs } from './session/jobs.ts';
import type { CallNotice } from './session/notices.ts';
import type { ImageStatus } from './session/status.ts';
import type { CallOptions, Reply } from './wire/call.ts';
import type { Lacking } from './wire/messages.ts';
import type { Operations } from './wire/operations.ts';

/** What happened since the last answer that its reader must know. */
export type Notice =
  | CallNotice
  /** The image was lost, and another has taken its place. */
  | { kind: 'loss'; report: LossReport }
  /** New images ended, as HOW says, so this one is LACKING what the agent does by internals of SBCL. */
  | { kind: 'plain'; how: readonly string[]; lacking: Lacking }
  /** The connection to an image that somebody else runs was lost, as HOW says, and there is a new one. */
  | { kind: 'connected again'; how: string }
  | JournalNote;

export interface Image {
  /** Performs the operation NAME with ARGS. Throws a SetupError when no image can be had. */
  call<Name extends keyof Operations>(
    name: Name,
    args: Operations[Name]['args'],
    options?: CallOptions,
  ): Promise<Reply<Name>>;
  /** The calls that are under way. */
  readonly jobs: Jobs;
  /** What *FEATURES* had at the last answer, by which #+ and #- leave out forms of files: names of keywords, and of other
   *  symbols PACKAGE::NAME. Empty before the first. */
  readonly features: ReadonlySet<string>;
  /** Returns how the image is, soon, whatever it does; never starts one. */
  status(): Promise<ImageStatus>;
  /** Returns, once, what happened since the last answer that its reader must know. */
  takeNotices(): Notice[];
  /** Whether there is an image, or one is being started. */
  readonly running: boolean;
  /** Begins to start the image, if it does not run; failures show at the next call. */
  start(): void;
  /** Resolves when the image is not being started any more: its start files are loaded, or it could not be had. */
  started(): Promise<void>;
  /** Interrupts what runs, so that its cleanup forms do, and closes the image soon. */
  end(): Promise<void>;
  /** Ends the image, or what leads to it when somebody else runs it. */
  close(): void;
}

/** What the image has: how many entries of its journal, whether those are built again, variables that were set, and
 *  calls that run. */
export interface Stake {
  entries: number;
  replay: boolean;
  values: readonly string[];
  calls: number;
}

/** What a new image is built from: what built the one before, nothing, or also what the server before had built. */
export type RebuildFrom = 'session' | 'none' | 'previous';

/** An image that the server itself runs, and so can end and start anew. */
export interface Replaceable {
  /** Ends the image, with all calls that run, and starts another, built again from REBUILD. Returns what is told of
   *  that. Throws a CallError when there is nothing to build from. */
  restart(rebuild: RebuildFrom): Promise<LossReport | undefined>;
  /** Resolves with whether the image did not work when that was looked at last, and no call has ended well since. */
  isBroken(): Promise<boolean>;
  /** What would be at stake if the image were ended now. */
  readonly stake: Stake;
  /** What the last loss took, and what was built again; undefined before the first. */
  readonly lastLoss: LossReport | undefined;
}

/** The tools that an image and the server tell each other of. */
export interface ImageTools {
  /** Returns the definitions of those that every new image gets. */
  offered(): object[];
  /** Takes the tool of the image that DEFINITION, not checked yet, describes, and returns how clients call it. AT_START
   *  says that it comes from a start file, REGISTRATION is what the image knows its handler by. Throws a CallError
   *  that says why it refuses. */
  register(definition: unknown, atStart: boolean, registration?: unknown): string;
  /** Forgets those of the image, which is gone. */
  clear(): void;
}
