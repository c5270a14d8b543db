// Types of the endings of a call, and the reasons of an interrupt.

import type { Place } from './data.ts';
import type { EndSignal } from './end-signal.ts';

/** Written text. If OMITTED, a number of characters, was left out, TEXT is the beginning and TAIL the end. */
export interface Output {
  text: string;
  omitted?: number;
  tail?: string;
}

/** Returns OUTPUT as one text that says how many characters were left out. */
export function wholeText({ text, omitted, tail }: Output): string {
  return omitted === undefined ? text : `${text}\n[... ${omitted} characters left out ...]\n${tail ?? ''}`;
}

/** A Lisp condition that no handler handled. */
export interface Condition {
  type: string;
  text: string;
  /** The unbound variable that the condition is about, as PACKAGE::NAME. */
  variable?: string;
  /** Names similar to a name that does not exist. */
  near?: string[];
  /** True when the condition means that a name does not exist. */
  missing?: true;
  /** True when a file uses a package of a library manager, and no manager is set up. */
  withoutManager?: true;
  /** The user's init file, when it was not loaded and may define the missing name. Named once in an image. */
  initFile?: string;
  restarts?: { name: string; report: string }[];
  /** How many restarts there are besides RESTARTS, and how many frames besides FRAMES. For a very deep stack,
   *  the number of frames is a lower bound. */
  moreRestarts?: number;
  frames?: Frame[];
  moreFrames?: number;
}

/** A stack frame: its call, and its place as far as known. Or a gap: FOLDED says how many frames of the
 *  system were omitted there. DEFINITION is the function's name, sent when its file has changed. SYSTEM marks
 *  frames of the system; only held errors have such frames. */
export type Frame = ({ call: string; definition?: string; system?: boolean } & Place) | { folded: number };

/** A variable of a frame. It has no value when the compiled code did not keep the value. */
export interface Local {
  name: string;
  value?: string;
  /** Id under which the tool inspect finds the value. */
  id?: string;
}

/** A frame of a kept error, with its locals. */
export type KeptFrame = Frame & { locals?: Local[]; late?: true };

export interface KeptError {
  /** Seconds since 1970. */
  time: number;
  /** The operation that signalled the error; absent for an error that ended a thread of the program. */
  operation?: string;
  /** Name of the thread that the error ended. */
  thread?: string;
  form?: string;
  formNumber?: number;
  file?: string;
  package: string;
  type: string;
  /** Absent when the stack was exhausted, since there was no room to walk it. */
  frames?: KeptFrame[];
  /** Absent when printing the condition failed. */
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

/** Why a call was interrupted: its time limit ('timeout'), the client ('cancelled'), the tool interrupt
 *  ('interrupt'), the end of the server ('ending'), or a full heap ('heap'). Or the server terminated the
 *  call's thread ('terminated'), or the thread ended otherwise ('ended'). */
export type Reason = 'timeout' | 'cancelled' | 'interrupt' | 'ending' | 'heap' | 'terminated' | 'ended';

/** The agent's report on an interrupted call. */
export interface Interrupted {
  kind: 'interrupted';
  reason: Reason;
  frames: Frame[];
  /** True when the cleanup forms of the call did not run to their end. */
  cutShort?: boolean;
  /** Milliseconds of garbage collection while the call ran. */
  collectedMilliseconds?: number;
  /** Name of the thread that ended the thread of the call. */
  endedBy?: string;
  /** True when the call ended before any part of it ran. */
  notBegun?: boolean;
}

/** An interrupted call. AFTER_MS counts from the time when the call began to run or, if it never ran, began
 *  to wait. */
export interface Interruption extends Interrupted {
  afterMs: number;
}

/** Endings without a duration. */
type UntimedEnding =
  | { kind: 'done' }
  | { kind: 'condition'; condition: Condition }
  | { kind: 'aborted' }
  /** HOW is the reason as part of a sentence. NOT_BEGUN: the image ended before any part of the call ran. */
  | { kind: 'lost'; how: string; notBegun?: true };

/** How a call ended: as the agent reported it, or as the loss of its image implies. */
export type ReportedEnding = UntimedEnding | Interrupted;

/** How a call ended. Nothing that happens in the image is an exception of the server. */
export type Ending = UntimedEnding | Interruption;

/** Returns the ending REPORTED, completed by the duration of the call, AFTER_MS milliseconds. */
export function endingAfter(reported: ReportedEnding, afterMs: number): Ending {
  return reported.kind === 'interrupted' ? { ...reported, afterMs } : reported;
}

/** The reason with which this program aborts a signal. A signal that the client cancels has another
 *  reason. */
export class Stop {
  readonly why: Reason;

  constructor(why: Reason) {
    this.why = why;
  }
}

/** Returns why SIGNAL aborted: the reason in a Stop, else 'timeout' for a timeout, else 'cancelled'. */
export function reasonOf(signal: EndSignal | undefined): Reason {
  const reason: unknown = signal?.reason;
  if (reason instanceof Stop) return reason.why;
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? 'timeout' : 'cancelled';
}
