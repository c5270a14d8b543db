// Types of the endings of a call.

import type { EndSignal } from './end-signal.ts';
import type { Condition, Frame, InterruptedMember, Output, Reason } from './operations.ts';

/** Returns OUTPUT as one text that says how many characters were left out. */
export function wholeText({ text, omitted, tail }: Output): string {
  return omitted === undefined ? text : `${text}${leftOutLine(omitted)}${tail ?? ''}`;
}

/** Returns the line in place of OMITTED characters of an output, with the line breaks around it. */
function leftOutLine(omitted: number): string {
  return `\n[... ${omitted} characters left out ...]\n`;
}

/** The agent's report on an interrupted call. */
export interface Interrupted extends InterruptedMember {
  kind: 'interrupted';
  frames: Frame[];
}

/** The ending of an interrupted call. */
export interface Interruption extends Interrupted {
  /** For how many milliseconds the call had run or, if it never ran, had waited. */
  afterMs: number;
  /** True when somebody else runs the image. */
  attached?: true;
  /** True when the image was made for the call and ends with it. */
  fresh?: true;
}

/** Endings without a duration. */
type UntimedEnding =
  | { kind: 'done' }
  | { kind: 'condition'; condition: Condition }
  | { kind: 'aborted' }
  /** The image was lost, for the reason `how`, which is part of a sentence. `notBegun` is true when no part
   *  of the call had run. `attached` is true when somebody else runs the image: only the connection to it is
   *  known to be lost. */
  | { kind: 'lost'; how: string; notBegun?: true; attached?: true; fresh?: true };

/** How a call ended, without its duration: as the agent reported it, or that the image was lost. */
export type ReportedEnding = UntimedEnding | Interrupted;

/** How a call ended. Whatever happens in the image is such an ending, never an exception in the server. */
export type Ending = UntimedEnding | Interruption;

/** Returns the ending REPORTED with what its report cannot say: an interruption gets AFTER_MS, the
 *  milliseconds that the call took. ATTACHED, true when somebody else runs the image, and FRESH, true when the
 *  image ends with the call, are noted in an interruption or a loss. */
export function endingAfter(
  reported: ReportedEnding,
  afterMs: number,
  { attached = false, fresh = false }: { attached?: boolean; fresh?: boolean } = {},
): Ending {
  const whose = { ...(attached && { attached }), ...(fresh && { fresh }) };
  if (reported.kind === 'interrupted') return { ...reported, afterMs, ...whose };
  return reported.kind === 'lost' ? { ...reported, ...whose } : reported;
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
