// Types of the endings of a call, and the reasons of an interrupt.

import type { Place } from './data.ts';
import type { EndSignal } from './end-signal.ts';

/** Written text: whole, or its beginning, the number of omitted characters, and its end (TAIL). */
export interface Output {
  text: string;
  omitted?: number;
  tail?: string;
}

/** Returns OUTPUT as one text that says how much was left out. */
export function wholeText({ text, omitted, tail }: Output): string {
  return omitted === undefined ? text : `${text}\n[... ${omitted} characters left out ...]\n${tail ?? ''}`;
}

/** A Lisp condition that nobody handled. */
export interface Condition {
  type: string;
  text: string;
  /** The unbound variable, as PACKAGE::NAME. */
  variable?: string;
  /** Names similar to a name that does not exist. */
  near?: string[];
  /** True when the condition says that a name does not exist. */
  missing?: true;
  /** True when a file names a package of a library manager, and none is set up. */
  withoutManager?: true;
  /** The user's init file, when it was not loaded and may define the missing name. Named once in an image. */
  initFile?: string;
  restarts?: { name: string; report: string }[];
  /** How many more restarts and frames there are. For very deep stacks, at least this many frames. */
  moreRestarts?: number;
  frames?: Frame[];
  moreFrames?: number;
}

/** A stack frame: its call and place as far as known, or how many frames of the system were omitted (FOLDED).
 *  DEFINITION is the function's name, if its file has changed. SYSTEM marks the system's frames of held errors. */
export type Frame = ({ call: string; definition?: string; system?: boolean } & Place) | { folded: number };

/** A variable of a frame; without a value when the code did not keep it. */
export interface Local {
  name: string;
  value?: string;
  /** Id by which inspect takes the value. */
  id?: string;
}

/** A frame of a kept error, with its locals. */
export type KeptFrame = Frame & { locals?: Local[]; late?: true };

export interface KeptError {
  /** Seconds since 1970. */
  time: number;
  /** Absent for an error that ended a thread of the program. */
  operation?: string;
  /** Name of that thread. */
  thread?: string;
  form?: string;
  formNumber?: number;
  file?: string;
  package: string;
  type: string;
  /** Absent when the stack was exhausted: there was no room to walk it. */
  frames?: KeptFrame[];
  /** Absent when the condition could not be rendered to the end. */
  condition?: Condition;
}

export interface LastErrorData {
  /** When the image started, in seconds since 1970. */
  began: number;
  total: number;
  error?: KeptError;
  /** All kept errors, newest first. */
  others?: { time: number; type: string }[];
}

/** Why a call was interrupted: by its time limit, the client, the tool interrupt, the end of the server, or a full
 *  heap. Or its thread was terminated, or ended itself. */
export type Reason = 'timeout' | 'cancelled' | 'interrupt' | 'ending' | 'heap' | 'terminated' | 'ended';

/** The agent's report on an interrupted call. */
export interface Interrupted {
  kind: 'interrupted';
  reason: Reason;
  frames: Frame[];
  /** True when its cleanup forms did not run to their end. */
  cutShort?: boolean;
  /** Milliseconds of garbage collection while the call ran. */
  collectedMilliseconds?: number;
  /** The thread that ended the call's thread. */
  endedBy?: string;
  /** True when the call ended before anything of it ran. */
  notBegun?: boolean;
}

/** An interrupted call. AFTER_MS counts from when it began to run, or to wait if it had not begun. */
export interface Interruption extends Interrupted {
  afterMs: number;
}

/** Endings without a duration. */
type UntimedEnding =
  | { kind: 'done' }
  | { kind: 'condition'; condition: Condition }
  | { kind: 'aborted' }
  /** NOT_BEGUN: the image ended before anything of the call ran. */
  | { kind: 'lost'; how: string; notBegun?: true };

/** How a call ended, as the agent reported it or the loss of its image implies. */
export type ReportedEnding = UntimedEnding | Interrupted;

/** How a call ended. Whatever happens in the image is an ending, not an exception. */
export type Ending = UntimedEnding | Interruption;

/** Returns REPORTED as the ending of a call that took AFTER_MS milliseconds. */
export function endingAfter(reported: ReportedEnding, afterMs: number): Ending {
  return reported.kind === 'interrupted' ? { ...reported, afterMs } : reported;
}

/** The reason of a signal that something other than the client's cancellation aborted. */
export class Stop {
  readonly why: Reason;

  constructor(why: Reason) {
    this.why = why;
  }
}

/** Returns why SIGNAL aborted: by a Stop, by a timeout, or else because the client cancelled. */
export function reasonOf(signal: EndSignal | undefined): Reason {
  const reason: unknown = signal?.reason;
  if (reason instanceof Stop) return reason.why;
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? 'timeout' : 'cancelled';
}
