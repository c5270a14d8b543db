// Types of the endings of a call.

import type { EndSignal } from './end-signal.ts';
import type { Condition, Frame, InterruptedMember, Output, Reason } from './operations.ts';

/** Returns OUTPUT as one text, with a line about the omitted characters, if any. */
export function wholeText({ text, omitted, tail }: Output): string {
  return omitted === undefined ? text : `${text}${leftOutLine(omitted)}${tail ?? ''}`;
}

function leftOutLine(omitted: number): string {
  return `\n[... ${omitted} characters left out ...]\n`;
}

/** The agent's report on an interrupted call. */
export interface Interrupted extends InterruptedMember {
  kind: 'interrupted';
  frames: Frame[];
  /** The process of the image, if a signal has stopped it, so that the call will end only after SIGCONT. */
  stoppedPid?: number;
}

export interface Interruption extends Interrupted {
  /** Milliseconds for which the call had run or, if it never ran, had waited. */
  afterMs: number;
  attached?: true;
  /** True for an image that was made for the call and ends with it. */
  fresh?: true;
  /** True when the human has interrupted the call on the page. */
  byUser?: true;
}

type UntimedEnding =
  | { kind: 'done' }
  | { kind: 'condition'; condition: Condition }
  | { kind: 'aborted' }
  /** The image was lost, for the reason `how`, which is part of a sentence. `notBegun` is true when no part
   *  of the call had run. `attached` is true when somebody else runs the image: only the connection to it is
   *  known to be lost. */
  | { kind: 'lost'; how: string; notBegun?: true; attached?: true; fresh?: true };

/** The ending of a call without its duration, as the agent reported it or after the loss of the image. */
export type ReportedEnding = UntimedEnding | Interrupted;

/** How a call ended. An error in the image, an interruption and the loss of the image are such values, too.
 *  The server throws no exception for them. */
export type Ending = UntimedEnding | Interruption;

/** Returns the ending REPORTED with the facts that the report lacks. An interruption gets AFTER_MS, the
 *  duration of the call in milliseconds. ATTACHED is true when somebody else runs the image, FRESH when the
 *  image ends with the call, BY_USER when the human has ended the call on the page. */
export function endingAfter(
  reported: ReportedEnding,
  afterMs: number,
  { attached = false, fresh = false }: { attached?: boolean; fresh?: boolean } = {},
  byUser = false,
): Ending {
  const whose = { ...(attached && { attached }), ...(fresh && { fresh }) };
  if (reported.kind === 'interrupted') {
    const isByUser = byUser && reported.reason === 'interrupt';
    return { ...reported, afterMs, ...whose, ...(isByUser && { byUser: true }) };
  }
  return reported.kind === 'lost' ? { ...reported, ...whose } : reported;
}

/** The reason of a signal that this program aborted. For a client's cancellation, the reason has another
 *  class. */
export class Stop {
  readonly why: Reason;

  constructor(why: Reason) {
    this.why = why;
  }
}

/** Returns the reason of SIGNAL: that of a Stop, else 'timeout' for a timeout, else 'cancelled'. */
export function reasonOf(signal: EndSignal | undefined): Reason {
  const reason: unknown = signal?.reason;
  if (reason instanceof Stop) return reason.why;
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? 'timeout' : 'cancelled';
}
