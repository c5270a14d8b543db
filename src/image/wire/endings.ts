// Types of the endings of a call, and the reasons of an interrupt.

import type { Place } from './data.ts';
import type { EndSignal } from './end-signal.ts';

/** What a call or the image has written. */
export interface Output {
  /** The whole output, or its beginning when characters were left out. */
  text: string;
  /** How many characters were left out in the middle. */
  omitted?: number;
  /** The end of the output, when characters were left out. */
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
  /** The user's init file, when it was not loaded and may define the missing name. Sent once per image. */
  initFile?: string;
  restarts?: { name: string; report: string }[];
  /** How many more restarts there are than `restarts` lists. */
  moreRestarts?: number;
  frames?: Frame[];
  /** How many more frames there are than `frames` lists. This is a lower bound for a very deep stack. */
  moreFrames?: number;
}

/** A stack frame: its call, and its place as far as it is known. `definition` is the name of the function,
 *  sent when the file of the function has changed. `system` is true for a system frame: of SBCL, ASDF or the
 *  agent. Only held errors have such frames. Elsewhere, an element with `folded` stands for that many system
 *  frames. */
export type Frame = ({ call: string; definition?: string; system?: boolean } & Place) | { folded: number };

/** A local variable of a frame. The value is absent when the compiled code did not keep it. */
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

/** Why a call was interrupted: its time was up ('timeout'), the client cancelled it ('cancelled'), the tool
 *  interrupt ended it ('interrupt'), the server ends ('ending'), the heap was full ('heap'), the server had
 *  to terminate the thread ('terminated'), or the thread ended for another reason ('ended'). */
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

/** The ending of an interrupted call. */
export interface Interruption extends Interrupted {
  /** For how many milliseconds the call had run or, if it never ran, had waited. */
  afterMs: number;
  /** True when somebody else runs the image. */
  attached?: true;
}

/** Endings without a duration. */
type UntimedEnding =
  | { kind: 'done' }
  | { kind: 'condition'; condition: Condition }
  | { kind: 'aborted' }
  /** The image was lost, for the reason `how`, which is part of a sentence. `notBegun` is true when no part
   *  of the call had run. `attached` is true when somebody else runs the image: only the connection to it is
   *  known to be lost. */
  | { kind: 'lost'; how: string; notBegun?: true; attached?: true };

/** How a call ended, without its duration: as the agent reported it, or that the image was lost. */
export type ReportedEnding = UntimedEnding | Interrupted;

/** How a call ended. Whatever happens in the image is such an ending, never an exception in the server. */
export type Ending = UntimedEnding | Interruption;

/** Returns the ending REPORTED of a call that took AFTER_MS milliseconds. ATTACHED is true when somebody else
 *  runs the image. */
export function endingAfter(reported: ReportedEnding, afterMs: number, attached = false): Ending {
  const owner = attached && ({ attached } as const);
  if (reported.kind === 'interrupted') return { ...reported, afterMs, ...owner };
  return reported.kind === 'lost' ? { ...reported, ...owner } : reported;
}

/** The reason of a signal that this program aborted. When a client cancels a call, the signal has a reason of
 *  another class. */
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
