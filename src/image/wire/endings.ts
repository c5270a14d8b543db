// Decides how a call can end, and why one is ended.

import type { Place } from './data.ts';
import type { EndSignal } from './end-signal.ts';

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
  /** The variable that is unbound, `PACKAGE::NAME`. */
  variable?: string;
  /** Names near the one that is not there. */
  near?: string[];
  /** Whether it says that a name is not there. */
  missing?: true;
  restarts?: { name: string; report: string }[];
  /** How many more there are; of frames at least, where they are very many. */
  moreRestarts?: number;
  frames?: Frame[];
  moreFrames?: number;
}

/** A call on the stack and where it stands, as far as that is known, or how many of the system are not told. The name of
 *  its DEFINITION is told when its file has changed. Of held errors it is told which are of the SYSTEM. */
export type Frame = ({ call: string; definition?: string; system?: boolean } & Place) | { folded: number };

/** A variable of a frame; without a value when the code did not keep it. */
export interface Local {
  name: string;
  value?: string;
  /** By which inspect takes it. */
  id?: string;
}

/** A frame of a kept error, with its locals. */
export type KeptFrame = Frame & { locals?: Local[]; late?: true };

export interface KeptError {
  /** Seconds since 1970. */
  time: number;
  /** Absent for an error that ended a thread of the program. */
  operation?: string;
  /** The name of that. */
  thread?: string;
  form?: string;
  formNumber?: number;
  file?: string;
  package: string;
  type: string;
  /** Absent when the stack was exhausted: there was no room to look at it. */
  frames?: KeptFrame[];
  /** Absent when making it did not come to an end. */
  condition?: Condition;
}

export interface LastErrorData {
  /** When the image began, in seconds since 1970. */
  began: number;
  total: number;
  error?: KeptError;
  /** All that are kept, newest first. */
  others?: { time: number; type: string }[];
}

/** Why a call was interrupted: by its limit, the client, the tool interrupt, the end of the server, or a full heap. Or
 *  its thread was ended, or ended itself. */
export type Reason = 'timeout' | 'cancelled' | 'interrupt' | 'ending' | 'heap' | 'terminated' | 'ended';

/** What the agent tells of a call that it interrupted. */
export interface Interrupted {
  kind: 'interrupted';
  reason: Reason;
  frames: Frame[];
  /** Whether its cleanup forms were left before their end. */
  cutShort?: boolean;
  /** For how long garbage was collected meanwhile. */
  collectedMilliseconds?: number;
  /** The thread that ended its own. */
  endedBy?: string;
  /** Whether it ended before anything of it ran. */
  notBegun?: boolean;
}

/** That a call was interrupted, AFTER_MS milliseconds after it began to run, or to wait when it had not begun. */
export interface Interruption extends Interrupted {
  afterMs: number;
}

/** The ends of a call that need no clock to be told. */
type Plain =
  | { kind: 'done' }
  | { kind: 'condition'; condition: Condition }
  | { kind: 'aborted' }
  /** NOT_BEGUN: the image went before anything of the call ran. */
  | { kind: 'lost'; how: string; notBegun?: true };

/** How a call ended, as the agent or the end of its image tells it. */
export type ToldEnding = Plain | Interrupted;

/** How a call ended. Whatever happens in the image is an ending, not an exception. */
export type Ending = Plain | Interruption;

/** Returns TOLD as the ending of a call that took AFTER_MS milliseconds. */
export function endingAfter(told: ToldEnding, afterMs: number): Ending {
  return told.kind === 'interrupted' ? { ...told, afterMs } : told;
}

/** What a signal aborts with that says why. */
export class Stop {
  readonly why: Reason;

  constructor(why: Reason) {
    this.why = why;
  }
}

/** Returns why SIGNAL aborted: the client cancelled, unless something else was said, as by a limit. */
export function reasonOf(signal: EndSignal | undefined): Reason {
  const reason: unknown = signal?.reason;
  if (reason instanceof Stop) return reason.why;
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? 'timeout' : 'cancelled';
}
