// Decides what the rest of the program can ask of a Lisp image, whichever kind it is.

import type { LossReport } from './recovery/loss-report.ts';
import type { Jobs } from './session/jobs.ts';
import type { ImageStatus } from './session/status.ts';
import type { Operations } from './wire/operations.ts';

/** Text that was written: whole, or its first part, how many characters were left out, and its last part. */
export interface Output {
  text: string;
  omitted?: number;
  tail?: string;
}

/** Returns OUTPUT as one text, saying how much was left out. */
export function wholeText({ text, omitted, tail }: Output): string {
  return omitted === undefined ? text : `${text}\n[... ${omitted} characters left out ...]\n${tail ?? ''}`;
}

/** A Lisp condition that nobody handled. */
export interface Condition {
  type: string;
  text: string;
  restarts?: { name: string; report: string }[];
  frames?: string[];
}

/** Why a call was interrupted: its limit, the client, the tool interrupt, the end of the server, the heap, because its
 *  thread was ended, or ended itself. */
export type Reason = 'timeout' | 'cancelled' | 'interrupt' | 'ending' | 'heap' | 'terminated' | 'ended';

/** That a call was interrupted, AFTER_MS milliseconds after it began to run, or to wait when it was NOT_BEGUN. */
export interface Interruption {
  kind: 'interrupted';
  reason: Reason;
  frames: string[];
  afterMs: number;
  cutShort?: boolean;
  notBegun?: boolean;
  /** For how long garbage was collected meanwhile. */
  collectedMilliseconds?: number;
}

/** How a call ended. Whatever happens in the image is an ending, not an exception. */
export type Ending =
  | { kind: 'done' }
  | { kind: 'condition'; condition: Condition }
  | Interruption
  | { kind: 'aborted' }
  | { kind: 'lost'; how: string };

/** What came back: how the call ended, what it wrote, and the operation's own data when it got that far. */
export interface Reply<Name extends keyof Operations> {
  ending: Ending;
  output?: Output;
  data: Operations[Name]['data'];
  /** How long it waited until fewer evaluations ran. */
  waitedMs?: number;
}

/** How a call is doing that is under way. */
export interface Progress {
  /** Since it began. */
  milliseconds: number;
  /** What it waits for: the start of the image, or a place, which RUNNING have and WAITING wait for before it. */
  waiting?: 'start' | { running: number; waiting: number };
  /** How much it has written, and the end of the last line of that. */
  characters?: number;
  lastLine?: string;
  file?: string;
  /** For how long garbage was collected meanwhile. */
  collectedMilliseconds?: number;
  /** For how long the image has not reacted. */
  silentMs?: number;
  /** How far the lost image is built again, which the call waits for. */
  building?: string;
}

export interface CallOptions {
  /** Milliseconds after which the call is interrupted; the image's own limit when absent. */
  limitMs?: number;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
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

export interface Image {
  /** Performs the operation NAME with ARGS. Throws a SetupError when no image can be had. */
  call<Name extends keyof Operations>(
    name: Name,
    args: Operations[Name]['args'],
    options?: CallOptions,
  ): Promise<Reply<Name>>;
  /** Whether there is an image, or one is being started. */
  readonly running: boolean;
  /** Begins to start the image, if it does not run; failures show at the next call. */
  start(): void;
  /** Ends the image, with all calls that run, and starts another, built again from REBUILD. Returns what is told of
   *  that. Throws a CallError when there is nothing to build from. */
  restart(rebuild: RebuildFrom): Promise<string>;
  /** What would be at stake if the image were ended now. */
  readonly stake: Stake;
  /** What the last loss took, and what was built again; undefined before the first. */
  readonly lastLoss: LossReport | undefined;
  /** Resolves when the image is not being started any more: its start files are loaded, or it could not be had. */
  started(): Promise<void>;
  /** Returns, once, what happened since the last answer that its reader must know. */
  takeNotices(): string[];
  /** The calls that are under way. */
  readonly jobs: Jobs;
  /** Returns how the image is, soon, whatever it does; never starts one. */
  status(): Promise<ImageStatus>;
  /** Ends the image. */
  close(): void;
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
