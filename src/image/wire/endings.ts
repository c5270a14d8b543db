// Defines types for the endings of a call.

import type { EndSignal } from './end-signal.ts';
import type { Condition, Frame, InterruptedMember, Output, Reason } from './operations.ts';

/** Returns OUTPUT as one text. If characters were omitted, a line in the text says how many. */
export function wholeText({ text, omitted, tail }: Output): string {
  return omitted === undefined ? text : `${text}${leftOutLine(omitted)}${tail ?? ''}`;
}

function leftOutLine(omitted: number): string {
  return `\n[... ${omitted} characters left out ...]\n`;
}

/** The backend's report about a call that was interrupted. */
export interface Interrupted extends InterruptedMember {
  kind: 'interrupted';
  frames: Frame[];
  /** If a signal has stopped the process of the image: the id of this process. The call will then end only after
   * SIGCONT. */
  stoppedPid?: number;
}

export interface Interruption extends Interrupted {
  /** Number of milliseconds for which the call had run or, if it never ran, had waited. */
  afterMs: number;
  attached?: true;
  /** True for a fresh image, which was made for the call and ends with it. */
  fresh?: true;
  /** True when the human on the page has interrupted the call. */
  byUser?: true;
}

type UntimedEnding =
  | { kind: 'done' }
  | { kind: 'condition'; condition: Condition }
  | { kind: 'aborted' }
  /** The image was lost for the reason `how`, which is part of a sentence. `notBegun` is true when no part of the call
   * had run. `attached` is true when somebody else runs the image. Then only the connection is known to be lost. */
  | { kind: 'lost'; how: string; notBegun?: true; attached?: true; fresh?: true };

/** The ending of a call without its duration: the backend has reported it, or the server has made it because the image
 * was lost. */
export type ReportedEnding = UntimedEnding | Interrupted;

/** The ending of a call. An error in the image, an interruption and the loss of the image are also such values: the
 * server throws no exception for them. */
export type Ending = UntimedEnding | Interruption;

/** Returns the ending REPORTED with the facts that the report does not contain. AFTER_MS is the duration of the call in
 * milliseconds. ATTACHED is true when somebody else runs the image, FRESH when the image ends with the call, and
 * BY_USER when the human on the page has ended the call. */
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

/** The reason with which this program aborts a signal. When a client cancels a call, the reason is of another class. */
export class Stop {
  readonly why: Reason;

  constructor(why: Reason) {
    this.why = why;
  }
}

/** Returns the reason why SIGNAL was aborted: `why` of a Stop, 'timeout' for a timeout, else 'cancelled'. */
export function reasonOf(signal: EndSignal | undefined): Reason {
  const reason: unknown = signal?.reason;
  if (reason instanceof Stop) return reason.why;
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? 'timeout' : 'cancelled';
}
