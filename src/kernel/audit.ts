// Defines the record of calls that are not safe (S2.11). records/audit-log.ts stores it.

import type { Arguments } from './parameter.ts';
import type { SafetyLevel } from './tool.ts';

/** The reason why a call ran or not. It ran because of its level; because it could lose nothing; by a
 *  standing approval; or because a human approved it in the client, approved it with changed arguments, or
 *  approved it in an editor or terminal that watches. It did not run because a human denied it, no human
 *  answered, none answered in time, or none could be asked (C29). */
export const AUTHORITIES = [
  'level',
  'nothing at stake',
  'standing',
  'human',
  'human, with changes',
  'human, in an editor',
  'denied',
  'nobody',
  'timed out',
  'cannot ask',
] as const;
export type Authority = (typeof AUTHORITIES)[number];

/** Who can call a tool: the client that started the server, a command that is connected to the session's
 *  socket, or code in the image. */
export const TOOL_CALLERS = ['client', 'command', 'code'] as const;
export type ToolCaller = (typeof TOOL_CALLERS)[number];

export interface AuditedCall {
  tool: string;
  level: SafetyLevel;
  args: Arguments;
  caller: ToolCaller;
}

export interface AuditedEnd {
  success: boolean;
  /** Why the call failed. */
  error?: string;
  milliseconds: number;
}

export interface AuditTrail {
  /** Records that CALL is about to run. Returns a function that records its end. Throws if it cannot. */
  begin(call: AuditedCall, authority: Authority): (end: AuditedEnd) => void;
}
