// Defines what is recorded of calls that are not safe (S2.11), not where.

import type { Arguments } from './parameter.ts';
import type { SafetyLevel } from './tool.ts';

/** What decided about a call. It ran by its level, because nothing was at stake, by a standing approval, or by a human,
 *  who may have changed its arguments. Or it was denied, got no answer (in time), or nobody could be asked (C29). */
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
  /** Whether a client or code in the image made the call. */
  caller: 'client' | 'code';
}

export interface AuditedEnd {
  success: boolean;
  /** Why the call failed. */
  error?: string;
  milliseconds: number;
}

export interface AuditTrail {
  /** Records that CALL is about to run, and returns the function that records its end. Throws when it cannot record. */
  begin(call: AuditedCall, authority: Authority): (end: AuditedEnd) => void;
}
