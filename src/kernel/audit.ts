// Decides what is recorded of calls that are not safe (S2.11); where it is kept is not decided here.

import type { Arguments } from './parameter.ts';
import type { SafetyLevel } from './tool.ts';

/** What let a call run or not: its level, an approval given in advance, or a human who was asked.
 *  They may have changed its arguments. Or nothing was at stake any more. Else nobody did: they denied it, gave no answer, or none in time, or could not be asked (C29). */
export const AUTHORITIES = [
  'level',
  'nothing at stake',
  'standing',
  'human',
  'human, with changes',
  'denied',
  'nobody',
  'timed out',
  'cannot ask',
] as const;
export type Authority = (typeof AUTHORITIES)[number];

export interface AuditedCall {
  tool: string;
  level: SafetyLevel;
  args: Arguments;
  /** Whether a client asked for it or code in the image. */
  caller: 'client' | 'code';
}

export interface AuditedEnd {
  success: boolean;
  /** Why it failed. */
  error?: string;
  milliseconds: number;
}

export interface AuditTrail {
  /** Records that CALL is about to run and returns the function that records its end. Throws when it cannot. */
  begin(call: AuditedCall, authority: Authority): (end: AuditedEnd) => void;
}
